"""Faults of topics and of single messages, which end in a state with a code and continue after the
operator's act.
"""

from typing import Final

import tomli_w
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from relay.kafka import TopicAdmin, TopicSpec
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until
from tools.faults.scenario import scenario
from tools.faults.stage import PARTITIONS, Run

_LARGER_BYTES: Final = 3_000_000
_STOP_S: Final = 60.0


@scenario(
    "message-too-large",
    (
        "a row of 1.5 MB stops the instance (MESSAGE_TOO_LARGE); the limits of topic and relay "
        "are raised, and the relay is started again"
    ),
)
def too_large(run: Run) -> None:
    """Insert a row that is too large. The instance must stop, and continue when larger messages are
    allowed.
    """
    relay = run.leader
    run.rest(0, 1)
    stopped_by_a_large_row(run, relay)
    relay.stop()
    take_larger_rows(run)
    relay.start()
    run.moving()


def stopped_by_a_large_row(run: Run, relay: RelayProcess) -> None:
    """Stop the instance with a row that the topic does not accept."""
    run.database.execute(f"insert into {run.name}.t values (1000, 0, repeat('x', 1500000))")
    relay.wait_for("STOPPED", "MESSAGE_TOO_LARGE", _STOP_S)


def take_larger_rows(run: Run) -> None:
    """Raise the limits of the topic and of the relays that start from now on."""
    entry = ConfigEntry(
        "max.message.bytes", str(_LARGER_BYTES), incremental_operation=AlterConfigOpType.SET
    )
    resource = ConfigResource(ResourceType.TOPIC, run.name, incremental_configs=[entry])
    admin = _admin(run)  # kept: its answers go with it
    admin.incremental_alter_configs([resource])[resource].result(20)
    run.installation.document["kafka"]["message_max_bytes"] = _LARGER_BYTES
    run.installation.file.write_text(tomli_w.dumps(run.installation.document), encoding="utf-8")


@scenario(
    "topic-deleted",
    (
        "the topic is deleted under load (TOPIC_REFUSED); it is created again, the relay is "
        "started again and publishes the unpublished changes"
    ),
)
def deleted(run: Run) -> None:
    """Delete the topic. The instance must stop with TOPIC_REFUSED, and continue in a new topic."""
    relay = run.leader
    run.rest(0, 1)
    admin = _admin(run)
    admin.delete_topics([run.name])[run.name].result(20)
    status = relay.wait_for("STOPPED", "TOPIC_REFUSED", _STOP_S)
    relay.stop()
    TopicAdmin(run.installation.settings.kafka).create(
        TopicSpec(run.name, PARTITIONS, 1, {"retention.ms": "-1"})
    )
    run.watcher.begin_again(before=status.published_rows)
    relay.start()
    run.moving()


@scenario(
    "partitions-raised",
    (
        "the partitions of the topic are raised from 4 to 8 under load; rows stay in the first "
        "4, and a warning reports this"
    ),
)
def raised(run: Run) -> None:
    """Add partitions to the topic. The relay must log a warning, and not use the new partitions."""
    relay = run.leader
    run.rest(0, 1)
    admin = _admin(run)
    admin.create_partitions([NewPartitions(run.name, 2 * PARTITIONS)])[run.name].result(20)
    wait_until(
        lambda: "8 partitions" in relay.log.read_text(), f"the warning\n{run.logs()}", _STOP_S
    )
    run.watcher.begin_again()
    run.moving()
    assert run.watcher.partitions <= set(range(PARTITIONS))


def _admin(run: Run) -> AdminClient:
    return AdminClient({"bootstrap.servers": run.kafka.bootstrap})

"""What a relay writes into its log while a broker is away: nothing but lines of its own form, and
few.
"""

import json
from collections.abc import Callable
from typing import Any

import tomli_w

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until


def test_every_line_is_the_relays_own_while_the_broker_is_away(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation
) -> None:
    broker = new_kafka()
    installation = new_installation(mariadb, broker)
    name = installation.name
    installation.document["log"] = {"format": "json"}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(
            lambda: any(
                each["event"] == "topic_created" and each["topic"] == name
                for each in written(relay)
            ),
            "the topic",
        )
        broker.kill()
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        relay.wait_for("WAITING", "BROKER_UNREACHABLE")
        wait_until(
            lambda: any(each["event"] == "kafka_client" for each in written(relay)),
            "what the client says",
        )
        assert relay.stop() == 0
        lines = written(relay)
    (activated,) = [each for each in lines if each["event"] == "mapping_set_activated"]
    assert (activated["instance"], activated["number"]) == ("shop", 1)
    away = [
        each
        for each in lines
        if each["event"] == "instance_state" and "BROKER_UNREACHABLE" in str(each["error"])
    ]
    assert {each["level"] for each in away} == {"warning"}
    assert 0 < len([each for each in lines if each["event"] == "kafka_client"]) < 10
    assert len(lines) < 40


def written(relay: RelayProcess) -> list[dict[str, Any]]:
    """Every line of the log; the test fails where one is not the relay's."""
    return [json.loads(line) for line in relay.log.read_text().splitlines()]

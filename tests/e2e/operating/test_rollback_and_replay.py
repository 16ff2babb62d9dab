"""Acts of operators that meet a second rare event: a roll back and a half-published transaction, a
new partitioning and rows that come again.
"""

from collections.abc import Callable

import pytest
import tomli_w
from confluent_kafka.admin import AdminClient, NewPartitions
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.e2e.delivery.test_giant_transaction import ROWS
from tests.support.relays.half_published import half_published
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.source_reading import end_of
from tests.support.waiting import wait_until

KEYS = range(1, 41)


def operator_of(installation: Installation) -> Callable[..., None]:
    """The command line of an operator; each command must succeed."""

    def roma(*arguments: str) -> None:
        told = CliRunner().invoke(app, [*arguments, "--config", str(installation.file)])
        assert told.exit_code == 0, told.output

    return roma


def id_of(seen: Seen) -> int:
    return int((seen.value or {})["data"][0]["id"])


@pytest.mark.long
def test_a_transaction_that_is_half_published_ends_under_its_set_after_an_edit_and_a_roll_back(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"split_bytes": 1_000_000})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        half_published(mariadb, kafka, relay, name, ROWS)
        installation.map(topics=[{"logicDb": name, "topic": f"{name}-b"}])
        operator_of(installation)("mapping", "rollback", "1", "--yes", name)
        mariadb.execute(f"insert into {name}.t values (0, 0, 'last')")
        relay.start()
        expected = range(ROWS + 1)
        wait_until(
            lambda: sorted(map(id_of, read_topic(kafka.bootstrap, name))) == list(expected),
            "the whole transaction and the row after it, each once",
            90,
        )
        wait_until(
            lambda: (status := installation.status()) is not None and status.mapping_set == 3,
            "the set of the roll back",
        )
    entry = AuditTrail(installation.settings.kafka, name).entries(1)[0]
    assert (entry.act, entry.after["restored_from"]) == ("mapping.rolled-back", 1)


def test_rows_that_come_again_keep_their_order_keys_and_are_placed_as_rows_are_now(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The partitioning changes after the position was moved back, before the rows came again."""
    installation = new_installation(mariadb, kafka)
    name, roma = installation.name, operator_of(installation)

    def by_orders() -> dict[str, list[tuple[int, int]]]:
        """Id and partition of the row of each order key, as they came."""
        found: dict[str, list[tuple[int, int]]] = {}
        for each in read_topic(kafka.bootstrap, name):
            found.setdefault(each.order, []).append((id_of(each), each.partition))
        return found

    def published(messages: int) -> None:
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == messages, f"{messages} messages"
        )

    def repartition() -> None:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.create_partitions([NewPartitions(name, 8)])[name].result(60)
        installation.document["instances"][0]["partition"]["partitions_num"] = 8
        installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
        roma("position", "repartition", "shop", "--topic", name, "--yes", "shop")

    rows = ", ".join(f"({key}, 0, '')" for key in KEYS)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (0, 0, '')")
        published(1)
        begin = end_of(mariadb)
        mariadb.execute(f"insert into {name}.t values {rows}")
        published(1 + len(KEYS))
        relay.stop()
        back = ("--file", begin.file, "--offset", str(begin.offset))
        roma("position", "set", "shop", *back, "--yes", "shop")
        repartition()
        relay.start()
        published(1 + 2 * len(KEYS))
        mariadb.execute(f"update {name}.t set n = 1")
        published(2 + 3 * len(KEYS))
    seen = by_orders()
    repeated = [sorted(each) for _, each in sorted(seen.items()) if len(each) > 1]
    assert [each[0][0] for each in repeated] == list(KEYS), "each insert came twice"
    assert all(first[0] == again[0] for first, again in repeated)
    placed = {each[0][0]: each[0][1] for each in seen.values() if len(each) == 1}
    assert {again[0]: again[1] for _, again in repeated} == {key: placed[key] for key in KEYS}
    assert max(placed.values()) > 3, "the updates are placed by eight partitions"

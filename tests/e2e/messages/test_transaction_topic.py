"""Transactions and heartbeats on real servers: BEGIN and END over a kill inside a split
transaction, and counts that agree with what a read_committed reader sees.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.sources.rolling_back import insert_and_roll_back
from tests.support.waiting import wait_until

ROWS: Final = 1500
IN_PARTS: Final[dict[str, Any]] = {
    "buffer": {"buffer_size": 16, "batch_mode": "ITEMSIZE"},
}
SLOWLY: Final = 150
"""Rows a second: a part every one and a half seconds, so that a crash meets the transaction."""


def values(kafka: Kafka, topic: str) -> list[dict[str, Any]]:
    """The messages of a topic with one partition, in their order."""
    if not topic_answers(kafka.bootstrap, topic):
        return []
    return [each.value or {} for each in read_topic(kafka.bootstrap, topic)]


def rows_by_transaction(rows: list[Seen]) -> dict[str, Counter[str]]:
    """Rows of each transaction by logical table."""
    found: dict[str, Counter[str]] = {}
    for each in rows:
        assert each.value is not None
        found.setdefault(each.transaction, Counter())[table_of(each.value)] += 1
    return found


def table_of(value: dict[str, Any]) -> str:
    """The logical table of a row in canal-json or debezium-json."""
    source = value.get("source") or {"db": value.get("database"), "table": value.get("table")}
    return f"{source['db']}.{source['table']}"


def check_blocks(rows: list[Seen]) -> None:
    """The blocks of debezium-json number the rows of each transaction in the order of their order
    keys: all of them, and those of each table.
    """
    seen: dict[str, Counter[str]] = {}
    for each in sorted(rows, key=lambda row: row.order):
        value = each.value or {}
        counts = seen.setdefault(each.transaction, Counter())
        counts[table_of(value)] += 1
        assert value["transaction"] == {
            "id": each.transaction,
            "total_order": counts.total(),
            "data_collection_order": counts[table_of(value)],
        }


def counted(reports: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """What the END messages count, by transaction."""
    return {
        each["id"]: Counter(
            {table["data_collection"]: table["event_count"] for table in each["data_collections"]}
        )
        for each in reports
        if each["status"] == "END"
    }


@pytest.mark.parametrize(
    ("server", "form"), [("mariadb", "canal-json"), ("mysql_9", "debezium-json")]
)
def test_begin_and_end_over_a_kill_in_a_split_transaction_count_what_a_reader_sees(
    server: str,
    form: str,
    request: pytest.FixtureRequest,
    kafka: Kafka,
    new_installation: NewInstallation,
    fresh_name: Callable[[str], str],
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    topic = fresh_name("transactions")
    transaction = {"split_bytes": 100_000, "topic": topic}
    installation = new_installation(
        database, kafka, transaction=transaction, message={"format": form}, **IN_PARTS
    )
    name = installation.name
    database.execute(f"create table {name}.u (id int primary key)")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.t values (-1, 0, 'small'), (-2, 0, 'small')")
        installation.limit(SLOWLY)
        kept = insert_and_roll_back(database, name, first=1, rows=ROWS)
        wait_until(lambda: len(values(kafka, topic)) >= 3, "the second BEGIN")
        relay.kill()
        installation.limit(None)
        between = values(kafka, topic)
        relay.start()
        database.execute(
            f"alter table {name}.u add n int",
            "xa start 'x'",
            f"insert into {name}.t values (-3, 0, 'xa')",
            f"insert into {name}.u values (1, 1), (2, 2)",
            "xa end 'x'",
            "xa prepare 'x'",
            "xa commit 'x'",
        )
        wait_until(
            lambda: any(each["event_count"] == 3 for each in values(kafka, topic)),
            "the END of the XA transaction",
        )
        reports, rows = values(kafka, topic), read_topic(kafka.bootstrap, name)
    assert [each["status"] for each in between] == ["BEGIN", "END", "BEGIN"], (
        "the kill came too late"
    )
    assert [each["status"] for each in reports] == ["BEGIN", "END"] * 3
    ids = [each["id"] for each in reports]
    assert ids[::2] == ids[1::2]
    assert len(set(ids)) == 3
    assert counted(reports) == rows_by_transaction(rows)
    if form == "debezium-json":
        check_blocks(rows)
    assert [each["event_count"] for each in reports[1::2]] == [2, len(kept), 3]
    for each in reports[1::2]:
        orders = [row.order for row in rows if row.transaction == each["id"]]
        assert (each["first_order"], each["last_order"]) == (min(orders), max(orders))
        assert each["gtid"] or server != "mariadb"


def test_a_quiet_instance_publishes_heartbeats_with_its_position(
    mariadb: SqlServer,
    kafka: Kafka,
    new_installation: NewInstallation,
    fresh_name: Callable[[str], str],
) -> None:
    beats = fresh_name("beats")
    heartbeat = {"topic": f"{beats}.{{instance}}", "interval_seconds": 1}
    installation = new_installation(mariadb, kafka, heartbeat=heartbeat)
    name = installation.name
    topic = f"{beats}.shop"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, 'before')")
        with mariadb.connect() as connection, connection.cursor() as cursor:
            cursor.execute("show master status")
            file, offset, *_ = cursor.fetchone() or ("", 0)
        wait_until(
            lambda: any(
                (each["file"], each["position"]) == (file, int(offset))
                for beat in values(kafka, topic)
                for each in beat["sources"]
            ),
            "a heartbeat at the end of the binlog",
        )
        beat = values(kafka, topic)[-1]
        (row,) = read_topic(kafka.bootstrap, name)
    assert beat["status"] == "HEARTBEAT"
    assert beat["order"] == row.order
    assert beat["instance"] == "shop"
    assert beat["relay_ts_ms"] >= beat["source_ts_ms"] > 0
    assert row.transaction == "", "without transaction.topic rows have no header"

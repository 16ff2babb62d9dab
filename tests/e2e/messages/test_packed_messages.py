"""`rows_per_message = "event"` against one row a message: two relays of the same tables must say
the same of every row.
"""

from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from relay.envelope import row_orders
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

Row: TypeAlias = tuple[tuple[int, int], tuple[str, ...], dict[str, Any]]
CHANGING = ("id", "ts")
"""The number of the Kafka transaction and the time of publishing are each relay's own."""


def rows_of(seen: list[Seen]) -> dict[int, list[Row]]:
    """Every row with its own pair, in the order of its partition."""
    rows: dict[int, list[Row]] = defaultdict(list)
    for message in seen:
        value = message.value or {}
        body = {name: content for name, content in value.items() if name not in CHANGING}
        orders = row_orders(message.order, message.orders)
        olds = value["old"] or [None] * len(orders)
        rows[message.partition] += [
            (order, message.tags, {**body, "data": row, "old": old})
            for order, row, old in zip(orders, value["data"], olds, strict=True)
        ]
    return rows


def row_count(seen: list[Seen]) -> int:
    return sum(len((message.value or {})["data"]) for message in seen)


@pytest.mark.parametrize("style", ["exact", "canal"])
def test_every_row_says_the_same_as_alone(
    database: SqlServer,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    new_installation: NewInstallation,
    tmp_path: Path,
    style: str,
) -> None:
    single = new_installation(database, kafka, message={"value_style": style, "ddl": "drop"})
    name = single.name
    form: dict[str, Any] = {
        "filter": {"filter_regex": f"{name}\\..*"},
        "source": {"server_id": 800_000},
        "message": {"value_style": style, "ddl": "drop", "rows_per_message": "event"},
    }
    packed = Installation(f"{name}p", tmp_path, database, kafka, zookeeper, **form)
    tags = [{"logicTb": "t,n", "tag": "t,fn"}]
    ids = range(1, 201)
    with closing(packed):
        single.map(tags=tags)
        packed.map(
            topics=[{"logicDb": name, "topic": f"{name}p"}],
            dbs=[{"logicDb": name, "realDbs": name}],
            tags=tags,
        )
        with RelayProcess(single, "single") as one, RelayProcess(packed, "packed") as two:
            one.wait_for("RUNNING")
            two.wait_for("RUNNING")
            database.execute(
                f"insert into {name}.t values "
                f"{','.join(f'({number}, {number % 3}, {chr(39)}é{chr(39)})' for number in ids)}",
                f"update {name}.t set v = 'ü'",
                f"update {name}.t set n = 2 where id <= 100",
                f"update {name}.t set id = id + 1000 where id > 150",
                f"delete from {name}.t where id <= 50",
            )
            expected = 200 + 200 + 67 + 2 * 50 + 50
            wait_until(
                lambda: row_count(read_topic(kafka.bootstrap, name)) >= expected,
                "all rows alone",
            )
            wait_until(
                lambda: row_count(read_topic(kafka.bootstrap, f"{name}p")) >= expected,
                "all rows packed",
            )
    alone, together = read_topic(kafka.bootstrap, name), read_topic(kafka.bootstrap, f"{name}p")
    assert rows_of(together) == rows_of(alone)
    assert len(alone) == expected
    assert len(together) < expected / 3
    assert {message.key for message in together} == {None}

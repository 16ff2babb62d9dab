"""Renamed columns followed into copies: one real table of many, in any order of arrival, and told
where that is not possible.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from deploy.embedded import Kafka
from relay.envelope import order_text
from relay.model.message import OutboundMessage
from spark_jobs.apply.renames.store import RenameStore
from spark_jobs.apply.truncates.floors import FloorStore
from spark_jobs.comparison.waiting import waiting_statements
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import SchemaChangeRefused
from spark_jobs.sinks import DeltaSink
from spark_jobs.sinks.delta_lake.numbered_commits import numbered_commits
from tests.support.copies.spark_copies import (
    apply,
    change,
    copies,
    copy_of,
    drain,
    job,
    publish,
    records,
    renamed,
    truncate,
)

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

FOLLOW: Mapping[str, Any] = {"truncate": "follow", "schema_changes": {"renamed": "follow"}}
NAMES = "abcd"
STEPS, BATCHES = 10, 2


class Case:
    """Two real tables of one logical table, each with two columns of four names.

    Keys move, names change, tables are truncated.
    """

    def __init__(self, number: int, chance: random.Random) -> None:
        self.columns = {f"shop/db_{number}.{name}": ["a", "b"] for name in "xy"}
        self.keys = [f"{number}-{key}" for key in "xyz"]
        self.rows: dict[str, tuple[str, list[str]]] = {}
        self._chance = chance
        self._order = number * 1000

    def messages(self) -> Iterator[OutboundMessage]:
        """What the relay publishes of some random statements.

        `rows` says what they leave: key → real table, values.
        """
        for _ in range(STEPS):
            real, key = self._chance.choice(sorted(self.columns)), self._chance.choice(self.keys)
            kind = self._chance.choices(("write", "delete", "truncate", "rename"), (6, 1, 1, 3))[0]
            if kind == "truncate":
                self.rows = {key: row for key, row in self.rows.items() if row[0] != real}
                yield truncate("t.ddl", self._next(), real=real)
            elif kind == "rename":
                new = self._chance.sample(NAMES, 2)
                pairs = {
                    old: name
                    for old, name in zip(self.columns[real], new, strict=True)
                    if old != name
                }
                self.columns[real] = new
                yield renamed("t.ddl", self._next(), real=real, **pairs)
            else:
                yield from self._changed(real, key, write=kind == "write")

    def shown(self) -> dict[str, dict[str, str]]:
        """The columns of each row that are not null."""
        return {
            key: dict(zip(self.columns[real], values, strict=True))
            for key, (real, values) in self.rows.items()
        }

    def _changed(self, real: str, key: str, *, write: bool) -> Iterator[OutboundMessage]:
        there = self.rows.get(key)
        if there is not None and (not write or there[0] != real):
            yield self._message("DELETE", key, *self.rows.pop(key))
        if write:
            self.rows[key] = (real, [f"{self._order} {name}" for name in "12"])
            yield self._message(
                "UPDATE" if there and there[0] == real else "INSERT", key, *self.rows[key]
            )

    def _message(self, kind: str, key: str, real: str, values: list[str]) -> OutboundMessage:
        row = dict(zip(self.columns[real], values, strict=True))
        return change("t", kind, key, self._next(), real=real, id=key, row=row)

    def _next(self) -> int:
        self._order += 1
        return self._order


def shown(spark: SparkSession, root: Path) -> dict[str, dict[str, str]]:
    """The columns of each live row that are not null, without the key."""
    found = copy_of(spark, root)
    return {
        key: {name: value for name, value in row.items() if value is not None and name != "id"}
        for key, row in found.items()
    }


@pytest.mark.parametrize(
    ("seed", "count"),
    [(8, 1), *(pytest.param(seed, 2, marks=pytest.mark.long) for seed in range(7, 12))],
)
def test_what_a_copy_shows_depends_on_the_changes_alone(
    spark: SparkSession, tmp_path: Path, seed: int, count: int
) -> None:
    """Rows come in any order and again.

    Statements of one real table come in their order, as they do from one partition.
    """
    chance = random.Random(seed)
    cases = [Case(number, chance) for number in range(1, count + 1)]
    arrivals: list[list[OutboundMessage]] = [[] for _ in range(BATCHES)]
    for case in cases:
        messages = list(case.messages())
        statements = [each for each in messages if each.key is None]
        places = sorted(chance.randrange(BATCHES) for _ in statements)
        for place, statement in zip(places, statements, strict=True):
            arrivals[place].append(statement)
            if chance.random() < 0.3:
                arrivals[chance.randrange(place, BATCHES)].append(statement)
        rows = [each for each in messages if each.key is not None]
        for row in (*rows, *chance.sample(rows, len(rows) // 4)):
            arrivals[chance.randrange(BATCHES)].append(row)
    for arrived in arrivals:
        chance.shuffle(arrived)
        assert apply(spark, tmp_path, *arrived, **FOLLOW).put_aside == 0
    assert shown(spark, tmp_path) == {
        key: row for case in cases for key, row in case.shown().items()
    }


A, B = "shop/db.a", "shop/db.b"


@pytest.mark.parametrize(
    ("place", "method"),
    [
        pytest.param(DeltaSink, "rename_columns", marks=pytest.mark.long),
        (RenameStore, "finish"),
        pytest.param(DeltaSink, "write", marks=pytest.mark.long),
    ],
    ids=["behind the record", "behind the copy's rows", "before the batch's rows"],
)
def test_a_batch_that_was_cut_off_is_applied_again(
    spark: SparkSession, tmp_path: Path, place: type, method: str
) -> None:
    first = [
        change("t", "INSERT", key, int(key), real=real, id=key, a="x", b="y")
        for key, real in (("1", A), ("2", A), ("3", B))
    ]
    apply(spark, tmp_path, *first, **FOLLOW)
    swap = renamed("t.ddl", 10, real=A, a="b", b="a")
    late = change("t", "UPDATE", "2", 9, real=A, id="2", a="late", b="y")
    with patch.object(place, method, side_effect=InterruptedError), pytest.raises(InterruptedError):
        apply(spark, tmp_path, swap, late, number=1, **FOLLOW)
    # The statement is not read again: what is kept is enough. Then the batch comes again, and a row
    # of before the rename once more.
    apply(spark, tmp_path, change("t", "INSERT", "4", 11, real=A, id="4", a="new", b="n"), **FOLLOW)
    for number in (1, 2):
        figures = apply(spark, tmp_path, swap, late, number=number, **FOLLOW)
        assert (figures.renames, figures.put_aside) == (1, 0)
    apply(spark, tmp_path, late, **FOLLOW)
    assert shown(spark, tmp_path) == {
        "1": {"a": "y", "b": "x"},
        "2": {"a": "y", "b": "late"},
        "3": {"a": "x", "b": "y"},
        "4": {"a": "new", "b": "n"},
    }


@pytest.mark.long
def test_a_rename_of_a_copy_that_is_not_there_holds_for_late_rows_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    alter = renamed("t.ddl", 10, real=A, a="b")
    apply(spark, tmp_path, alter, **FOLLOW)
    rows = [
        change("t", "INSERT", "1", 1, real=A, id="1", a="x"),
        change("t", "INSERT", "2", 2, real=B, id="2", a="y"),
    ]
    for _ in range(2):
        apply(spark, tmp_path, *rows, alter, **FOLLOW)
    assert shown(spark, tmp_path) == {"1": {"b": "x"}, "2": {"a": "y"}}


@pytest.mark.long
def test_values_keep_their_types_and_texts_that_no_type_holds(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Shards are renamed at different times, with another type in the same statement, over a
    dropped column of the new name.
    """
    old, new = (
        {"id": "int", "n": "int", "at.`day": "date", "gone": "int"},
        {"id": "int", "gone": "bigint", "a b": "date"},
    )

    def row(
        key: str, order: int, real: str, types: Mapping[str, str], *values: str | None
    ) -> OutboundMessage:
        return change(
            "t",
            "UPDATE",
            key,
            order,
            real=real,
            types=types,
            row=dict(zip(types, (key, *values), strict=True)),
        )

    before = [
        row("1", 1, A, old, "1", "0000-00-00", "9"),
        row("2", 2, A, old, None, "2026-01-01", "9"),
        row("3", 3, B, old, "3", None, "9"),
    ]
    alters = [
        renamed("t.ddl", order, real=real, **{"N": "gone", "at.`day": "a b"})
        for order, real in ((10, A), (20, B))
    ]
    apply(spark, tmp_path, *before, **FOLLOW)
    apply(
        spark,
        tmp_path,
        alters[0],
        row("4", 11, A, new, str(2**40), "2026-01-04"),
        row("5", 19, B, old, "5", "0000-00-00", "9"),
        **FOLLOW,
    )
    copy = {
        row["id"]: row
        for row in copies(spark, tmp_path, **FOLLOW).sink.read("shop.orders").collect()  # type: ignore[union-attr]
    }
    assert {key: (row["gone"], row["n"], row["_unfit"]) for key, row in copy.items()} == {
        1: (1, None, {"a b": "0000-00-00"}),
        2: (None, None, None),
        3: (9, 3, None),
        4: (2**40, None, None),
        5: (9, 5, {"at.`day": "0000-00-00"}),
    }
    apply(spark, tmp_path, alters[1], row("6", 18, B, old, "6", "2026-01-06", "9"), **FOLLOW)
    copy = {
        row["id"]: row
        for row in copies(spark, tmp_path, **FOLLOW).sink.read("shop.orders").collect()  # type: ignore[union-attr]
    }
    assert {key: (row["gone"], str(row["a b"]), row["_unfit"]) for key, row in copy.items()} == {
        1: (1, "None", {"a b": "0000-00-00"}),
        2: (None, "2026-01-01", None),
        3: (3, "None", None),
        4: (2**40, "2026-01-04", None),
        5: (5, "None", {"a b": "0000-00-00"}),
        6: (6, "2026-01-06", None),
    }
    assert {(row["n"], row["at.`day"]) for row in copy.values()} == {(None, None)}


def with_header(message: OutboundMessage, name: str, value: bytes | None) -> OutboundMessage:
    """The message with another value of a header, or without it."""
    others = tuple(each for each in message.headers if each[0] != name)
    return replace(message, headers=others if value is None else (*others, (name, value)))


def test_a_rename_that_does_not_say_enough_is_put_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    apply(
        spark,
        tmp_path,
        change("t", "INSERT", "1", 1, id="1", a="x"),
        change("t", "INSERT", "2", 2, id="2", a="x"),
    )
    apply(spark, tmp_path, change("t", "UPDATE", "2", 5, real=A, id="2", a="x"), **FOLLOW)
    alter = renamed("t.ddl", 6, real=A, a="b")
    unread = b'[{"new":"b"}]'
    conditional = b'[{"if_exists":true,"new":"b","old":"a"}]'
    told = [
        with_header(alter, *header)
        for header in (
            ("failed", b"1"),
            ("renamed", unread),
            ("renamed", conditional),
            ("renamed", None),
        )
    ]
    none = with_header(alter, "renamed", b"[]")
    figures = apply(spark, tmp_path, alter, none, *told, with_header(alter, "real", None), **FOLLOW)
    assert [reason.split(":")[0] for reason in sorted(figures.problems)] == [
        (
            "table shop.orders had columns renamed by a statement that ended with an error on "
            "its source, so it is unknown which names they have"
        ),
        (
            "table shop.orders had columns renamed, and its copy has rows of which it does not "
            "know the real table"
        ),
        "table shop.orders had columns renamed, and the message does not name the real table",
        "table shop.orders had columns renamed, and the message's renamed header is unreadable",
        (
            "table shop.orders may have had columns renamed (IF EXISTS), which the message does "
            "not contain"
        ),
        "table shop.orders may have had columns renamed, which the message does not contain",
    ]
    assert (figures.renames, shown(spark, tmp_path)) == (0, {"1": {"a": "x"}, "2": {"a": "x"}})
    # As bootstrap does: every row again, with its real table. Rows of before the rename that do not
    # name theirs are put aside.
    apply(
        spark,
        tmp_path,
        *(change("t", "UPDATE", key, 10, real=A, id=key, a="z") for key in "12"),
        **FOLLOW,
    )
    late = [
        change("t", "UPDATE", "3", 7, id="3", a="x"),
        change("t", "UPDATE", "4", 12, id="4", b="x"),
    ]
    figures = apply(spark, tmp_path, renamed("t.ddl", 11, real=A, a="b"), *late, **FOLLOW)
    (reason,) = figures.problems
    assert reason.startswith(
        "table shop.orders has a change that is older than a rename of its columns. The change"
    )
    figures = apply(spark, tmp_path, renamed("t.ddl", 9, real=A, c="a"), **FOLLOW)
    (reason,) = figures.problems
    assert reason.startswith(
        "table shop.orders had columns renamed before another rename that its copy has already"
    )
    assert shown(spark, tmp_path) == {"1": {"b": "z"}, "2": {"b": "z"}, "4": {"b": "x"}}


@pytest.mark.long
def test_a_policy_that_stops_leaves_the_rename_for_the_next_start(
    spark: SparkSession, tmp_path: Path
) -> None:
    types = {"id": "int", "a": "int", "b": "varchar(9)"}
    apply(
        spark,
        tmp_path,
        change("t", "INSERT", "1", 1, real=A, types=types, row={"id": "1", "a": "1", "b": "x"}),
        **FOLLOW,
    )
    stopping = {**FOLLOW, "schema_changes": {"renamed": "follow", "retyped": "stop"}}
    swap = renamed("t.ddl", 10, real=A, a="b", b="a")
    with pytest.raises(SchemaChangeRefused, match=r"retyped a"):
        apply(spark, tmp_path, swap, **stopping)
    apply(
        spark,
        tmp_path,
        change("t", "INSERT", "2", 11, real=A, types=types, row={"id": "2", "a": "7", "b": "8"}),
        **FOLLOW,
    )
    assert {key: (row["a"], row["b"]) for key, row in copy_of(spark, tmp_path).items()} == {
        1: ("x", "1"),
        2: ("7", "8"),
    }


def test_a_comparison_waits_for_renames_that_the_stream_has_not_followed(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [
        change("t", "INSERT", key, int(key), real=real, id=key, a="x")
        for key, real in (("1", A), ("2", B), ("3", A))
    ]
    apply(spark, tmp_path, *rows, **FOLLOW)
    waiting = records(spark, [renamed("t.ddl", 3, real=A, a="b"), truncate("t.ddl", 9, real=B)])
    copy = DeltaSink(spark, tmp_path).read("shop.orders")
    assert copy is not None
    keys = [f'["shop.orders","{key}"]' for key in "123"]
    orders = {
        key: order_text(1_700_000_000_000, order) for key, order in ((keys[0], 3), (keys[1], 9))
    }
    assert waiting_statements(waiting, copy, keys, renames=True) == orders
    assert waiting_statements(waiting, copy, keys) == {keys[1]: orders[keys[1]]}
    assert not FloorStore(spark, str(tmp_path)).read(), "nothing was followed"


@pytest.mark.long
def test_a_stream_follows_a_rename_of_a_topic_that_gets_partitions(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    """Older changes of a key come from its former partition, newer ones from another, in any
    batch.
    """
    topic = fresh_name("renamed")
    statements = f"{topic}.ddl"
    settings = job(kafka, topic, tmp_path)
    topics = settings.kafka.model_copy(update={"topics": (topic, statements)})
    both = JobSettings(
        kafka=topics,
        copy_root=settings.copy_root,
        checkpoint=settings.checkpoint,
        shuffle_partitions=1,
        **FOLLOW,
    )
    publish(
        kafka,
        topic,
        *(change(topic, "INSERT", key, int(key), real=A, id=key, a="x") for key in "12"),
    )
    publish(kafka, statements, renamed(statements, 10, real=A, a="b"))
    drain(both)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(60)
    newer = change(topic, "UPDATE", "1", 12, real=A, id="1", c="new")
    publish(
        kafka,
        topic,
        change(topic, "UPDATE", "1", 8, real=A, id="1", a="late"),
        change(topic, "UPDATE", "2", 9, real=A, id="2", a="late"),
        replace(newer, partition=1),
    )
    publish(kafka, statements, renamed(statements, 11, real=A, b="c"))
    drain(both)
    assert shown(spark, tmp_path / "copy") == {"1": {"c": "new"}, "2": {"c": "late"}}


def placed(message: OutboundMessage, second: int, position: int) -> OutboundMessage:
    """The message with another order."""
    order = order_text(1_700_000_000_000 + 1000 * second, position)
    return with_header(message, "order", order.encode())


def test_a_rename_after_a_lost_position_record_is_followed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Execute times rise on, and execute positions begin lower."""
    row = change("t", "INSERT", "1", 1, real=A, id="1", a="x", b="y")
    first = renamed("t.ddl", 1, real=A, a="c")
    apply(spark, tmp_path, placed(row, 1, 900), **FOLLOW)
    apply(spark, tmp_path, placed(first, 2, 910), **FOLLOW)
    swap = renamed("t.ddl", 1, real=A, c="b", b="c")
    with (
        patch.object(RenameStore, "finish", side_effect=InterruptedError),
        pytest.raises(InterruptedError),
    ):
        apply(spark, tmp_path, placed(swap, 3, 10), **FOLLOW)
    for _ in range(2):
        apply(spark, tmp_path, placed(swap, 3, 10), **FOLLOW)
        assert shown(spark, tmp_path) == {"1": {"b": "x", "c": "y"}}


def test_a_rename_that_a_former_release_carried_out_is_not_repeated(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It ended before it had marked the rename as done."""
    apply(spark, tmp_path, change("t", "INSERT", "1", 1, real=A, id="1", a="x", b="y"), **FOLLOW)
    path = DeltaSink(spark, tmp_path).path("shop.orders")
    with numbered_commits(spark, f"renamed columns of {A}", 10):
        DeltaTable.forPath(spark, path).update(set={"a": "b", "b": "a"})
    apply(spark, tmp_path, renamed("t.ddl", 10, real=A, a="b", b="a"), **FOLLOW)
    assert shown(spark, tmp_path) == {"1": {"a": "y", "b": "x"}}

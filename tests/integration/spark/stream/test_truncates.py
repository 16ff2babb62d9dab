"""TRUNCATE followed into copies: it empties one real table of many, in any order of arrival, and is
told where it cannot be followed.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pyspark.sql.functions as sf
import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB
from relay.envelope import order_text
from relay.model.message import OutboundMessage
from relay.model.table import TableId
from spark_jobs import dedup_batch, dedup_stream
from spark_jobs.apply.apply import Copies
from spark_jobs.apply.table_writer import TableWriter, upserts
from spark_jobs.apply.truncates import following
from spark_jobs.errors import CopiesKeptOtherwise, StatementsUnread
from spark_jobs.origin import Shard, SourceColumn
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import live_rows
from tests.support.copies.spark_copies import (
    apply,
    change,
    copies,
    copy_of,
    drain,
    job,
    publish,
    records,
    tombstone,
    truncate,
)

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

CASES, STEPS, BATCHES = 50, 9, 2
FOLLOW: Mapping[str, Any] = {"truncate": "follow"}


class Case:
    """Two real tables of one logical table, whose keys move between them, and that are truncated
    now and then.
    """

    def __init__(self, number: int, chance: random.Random) -> None:
        self.tables = (f"shop/db_{number}.a", f"shop/db_{number}.b")
        self.keys = [f"{number}-{key}" for key in "xyz"]
        self.rows: dict[str, tuple[str, str]] = {}
        self._chance = chance
        self._order = number * 1000

    def messages(self) -> Iterator[OutboundMessage]:
        """What the relay publishes of some random statements.

        `rows` says what they leave: key → real table, value.
        """
        for _ in range(STEPS):
            real, key = self._chance.choice(self.tables), self._chance.choice(self.keys)
            kind = self._chance.choices(("write", "delete", "truncate"), (6, 2, 3))[0]
            if kind == "truncate":
                self.rows = {key: row for key, row in self.rows.items() if row[0] != real}
                yield truncate("t.ddl", self._next(), real=real)
                continue
            there = self.rows.get(key)
            if there is not None and (kind == "delete" or there[0] != real):
                yield from self._deleted(key)
            if kind == "write":
                order = self._next()
                self.rows[key] = (real, str(order))
                yield change(
                    "t",
                    "UPDATE" if there and there[0] == real else "INSERT",
                    key,
                    order,
                    real=real,
                    id=key,
                    n=str(order),
                )

    def _deleted(self, key: str) -> Iterator[OutboundMessage]:
        real, n = self.rows.pop(key)
        message = change("t", "DELETE", key, self._next(), real=real, id=key, n=n)
        yield message
        if self._chance.random() < 0.3:
            yield tombstone(message)

    def _next(self) -> int:
        self._order += 1
        return self._order


@pytest.fixture(
    params=[
        "delta",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("parquet", "mariadb")),
    ]
)
def place(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> Copies:
    """Copies of each kind that follow TRUNCATEs."""
    if request.param != "mariadb":
        return copies(spark, tmp_path, sink=request.param, **FOLLOW)
    server: MariaDB = request.getfixturevalue("mariadb")
    section = {
        "host": server.host,
        "port": server.port,
        "user": server.admin,
        "password": server.admin,
        "prefix": fresh_name("copy_"),
    }
    return copies(spark, tmp_path, sink="jdbc", mirror=section, **FOLLOW)


def live(place: Copies) -> dict[str, str]:
    copy = place.sink.read("shop.orders")
    return {} if copy is None else {row["id"]: row["n"] for row in live_rows(copy).collect()}


def test_what_a_copy_shows_depends_on_the_changes_alone(spark: SparkSession, place: Copies) -> None:
    chance = random.Random(7)
    cases = [Case(number, chance) for number in range(1, CASES + 1)]
    messages = [message for case in cases for message in case.messages()]
    arrivals: list[list[OutboundMessage]] = [[] for _ in range(BATCHES)]
    for message in (*messages, *chance.sample(messages, len(messages) // 5)):
        arrivals[chance.randrange(BATCHES)].append(message)
    for arrived in arrivals:
        chance.shuffle(arrived)
        place.apply(records(spark, arrived), "tests")
    assert live(place) == {key: n for case in cases for key, (_, n) in case.rows.items()}


def test_a_first_copy_beside_the_stream_brings_no_row_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = copies(spark, tmp_path, **FOLLOW)
    shards = [
        Shard(
            "shop",
            TableId("db", name),
            "shop.orders",
            (SourceColumn("id", "varchar", "varchar(9)"),),
            ("id",),
        )
        for name in ("a", "b")
    ]
    rows = spark.createDataFrame(
        [("shop.orders", None, "{}")], "table string, data map<string,string>, mysql_types string"
    )
    read = {
        each.name: rows.withColumns(
            {"key": sf.lit(each.name), "data": sf.create_map(sf.lit("id"), sf.lit(each.name))}
        )
        for each in shards
    }
    changes = [upserts(read[each.name], order_text(1_700_000_000_000, 9), each) for each in shards]
    floor = {("shop.orders", "shop/db.a"): order_text(1_700_000_000_000, 10)}
    writer = TableWriter(place.sink, "bootstrap", floors=Mock(read=Mock(side_effect=[{}, floor])))
    assert (
        writer.write(LogicalTable("shop.orders", tuple(shards)), changes[0].unionByName(changes[1]))
        == 2
    )
    assert set(copy_of(spark, tmp_path)) == {"shop/db.b"}


@pytest.mark.long
def test_a_copy_of_before_puts_aside_what_it_cannot_follow(
    spark: SparkSession, tmp_path: Path
) -> None:
    apply(
        spark,
        tmp_path,
        change("t", "INSERT", "1", 1, id="1", n="a"),
        change("t", "INSERT", "2", 2, id="2", n="a"),
    )
    figures = apply(
        spark,
        tmp_path,
        change("t", "UPDATE", "2", 5, real="shop/db.a", id="2", n="b"),
        truncate("t.ddl", 6, real="shop/db.a"),
        **FOLLOW,
    )
    (reason,) = figures.problems
    assert reason.startswith(
        "table shop.orders was truncated, and its copy has rows of which it does not know the "
        "real table"
    )
    assert set(copy_of(spark, tmp_path)) == {"1", "2"}
    with pytest.raises(
        CopiesKeptOtherwise, match="kept row by row, with the real table of each row"
    ):
        copies(spark, tmp_path)
    # As bootstrap does: every row again, with its real table.
    rows = [change("t", "UPDATE", key, 10, real="shop/db.a", id=key, n="c") for key in "12"]
    apply(spark, tmp_path, *rows, **FOLLOW)
    late = [change("t", "UPDATE", "3", 7, id="3"), change("t", "UPDATE", "4", 12, id="4")]
    late += [
        change("t", "UPDATE", key, order, real="shop/first/db.a", id=key)
        for key, order in (("5", 8), ("6", 13))
    ]
    figures = apply(spark, tmp_path, truncate("t.ddl", 11, real="shop/db.a"), *late, **FOLLOW)
    assert {reason.split(". ")[0]: count for reason, count in figures.problems.items()} == {
        "table shop.orders has a change that is older than a TRUNCATE": 2
    }
    assert set(copy_of(spark, tmp_path)) == {"4", "6"}


def test_a_truncate_that_does_not_say_enough_is_put_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    row = change("t", "INSERT", "1", 1, real="shop/db.a", id="1")
    failed = truncate("t.ddl", 3, real="shop/db.a")
    failed = replace(failed, headers=(*failed.headers, ("failed", b"1")))
    otherwise_named = truncate("t.ddl", 4, real="shop/db.A")
    other_table = truncate("t.ddl", 5, real="shop/db.A", table="Orders")
    apply(spark, tmp_path, row, **FOLLOW)
    of_a_group = truncate("t.ddl", 6, real="shop/first/db.a")
    figures = apply(
        spark,
        tmp_path,
        truncate("t.ddl", 2, real=None),
        failed,
        otherwise_named,
        other_table,
        of_a_group,
        **FOLLOW,
    )
    assert [reason.split(":")[0] for reason in sorted(figures.problems)] == [
        "table shop.Orders was truncated under a name in another case than that of its copy",
        (
            "table shop.orders was truncated by a statement that ended with an error on its "
            "source, so it is unknown whether the rows were deleted"
        ),
        "table shop.orders was truncated under a name in another case than that of its copy",
        (
            "table shop.orders was truncated, and its copy has rows of which it does not know "
            "the real table"
        ),
        "table shop.orders was truncated, and the message does not name the real table",
    ]
    assert (figures.truncates, set(copy_of(spark, tmp_path))) == (0, {"1"})
    aside = copies(spark, tmp_path, **FOLLOW).quarantine.read(spark)
    assert {(each["offset"], each["value"] is not None) for each in aside.collect()} == {
        (number, True) for number in range(5)
    }


@pytest.mark.long
def test_statements_of_another_topic_are_followed_and_never_forgotten(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("truncated")
    rows = [
        change(topic, "INSERT", key, order, real=f"shop/db.{key[0]}", id=key)
        for order, key in enumerate(("a1", "a2", "b1"), 1)
    ]
    publish(kafka, topic, *rows)
    publish(kafka, f"{topic}.ddl", truncate(f"{topic}.ddl", 10, real="shop/db.a"))
    alone = job(kafka, topic, tmp_path).model_copy(update=FOLLOW)
    for run in (dedup_stream.start, dedup_batch.run):
        with pytest.raises(
            StatementsUnread, match=rf"kafka\.topics lacks {topic}\.ddl, where the TRUNCATEs are"
        ):
            run(alone)
    both = alone.model_copy(
        update={"kafka": alone.kafka.model_copy(update={"topics": (topic, f"{topic}.ddl")})}
    )
    with (
        patch.object(following, "empty_copies", side_effect=InterruptedError),
        pytest.raises(Exception, match="InterruptedError"),
    ):
        drain(both)
    drain(both)
    assert set(copy_of(spark, tmp_path / "copy")) == {"b1"}
    publish(
        kafka,
        topic,
        change(topic, "UPDATE", "a2", 9, real="shop/db.a", id="a2"),
        change(topic, "INSERT", "a2", 11, real="shop/db.a", id="a2"),
    )
    drain(both)
    assert set(copy_of(spark, tmp_path / "copy")) == {"a2", "b1"}

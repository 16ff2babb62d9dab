"""What the Delta sink adds to the rule: batches that are known again, versions, forgotten deletes,
compaction, other writers.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.apply.quarantine import Quarantine
from spark_jobs.sinks import DeltaSink
from tests.support.copies.spark_copies import (
    apply,
    change,
    copies,
    copy_of,
    records,
    tombstone,
)

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def test_a_batch_that_comes_again_is_seen_and_left_out(spark: SparkSession, tmp_path: Path) -> None:
    lines, orders = (
        change("t", "INSERT", "1", 1, table="lines", id="1"),
        change("t", "INSERT", "1", 2, id="1"),
    )
    apply(spark, tmp_path, lines, number=0)
    second = [
        apply(
            spark, tmp_path, orders, change("t", "UPDATE", "1", 3, table="lines", id="1"), number=1
        )
        for _ in range(2)
    ]
    assert [(each.winners, each.replayed) for each in second] == [(2, 0), (0, 2)]
    assert "2 tables had it already" in str(second[1])
    commits = (
        DeltaTable.forPath(spark, DeltaSink(spark, tmp_path).path("shop.lines"))
        .history()
        .select("operation")
        .collect()
    )
    assert [row["operation"] for row in commits] == ["MERGE", "WRITE"]
    third = apply(spark, tmp_path, change("t", "DELETE", "1", 4, id="1"), number=2)
    assert (third.winners, third.replayed) == (1, 0)


@pytest.mark.parametrize(
    "place",
    [
        {},
        pytest.param({"row_images": "merge"}, marks=pytest.mark.long),
        pytest.param({"sink": "parquet"}, marks=pytest.mark.long),
    ],
    ids=["put", "merge", "parquet"],
)
def test_a_number_of_before_the_checkpoint_went_back_is_another_batch(
    spark: SparkSession, tmp_path: Path, place: Mapping[str, Any]
) -> None:
    """Its newest batches were removed, or an older one was brought back: new batches have numbers
    that the copy has already.
    """
    lines = [change("t", "INSERT", key, order, id=key) for order, key in enumerate("1234", 1)]
    for number, line in enumerate(lines[:2], 7):
        apply(spark, tmp_path, line, number=number, **place)
    for number, line in ((8, lines[2]), (7, lines[3])):
        figures = apply(spark, tmp_path, line, number=number, again=False, **place)
        assert (figures.winners, figures.replayed) == (1, 0)
    copy = copies(spark, tmp_path, **place).sink.read("shop.orders")
    assert copy is not None
    assert sorted(row["id"] for row in copy.collect()) == ["1", "2", "3", "4"]


def test_the_history_has_every_version_once(spark: SparkSession, tmp_path: Path) -> None:
    first = [
        change("t", "INSERT", "1", 1, id="1", n="a"),
        change("t", "UPDATE", "1", 2, id="1", n="b"),
    ]
    deleted, other = (
        change("t", "DELETE", "1", 3, id="1", n="b"),
        change("t", "UPDATE", "2", 4, id="2", n="c"),
    )
    for number, batch in enumerate([first, [*first, deleted], [other]]):
        apply(spark, tmp_path, *batch, number=number, history=True)
    versions = DeltaSink(spark, tmp_path / "_history").read("shop.orders")
    assert versions is not None
    found = sorted(
        (row["_execute_position"], row["id"], row["n"], row["_deleted"])
        for row in versions.collect()
    )
    assert found == [
        (1, "1", "a", False),
        (2, "1", "b", False),
        (3, "1", "b", True),
        (4, "2", "c", False),
    ]
    assert list(copy_of(spark, tmp_path)) == ["2"]
    assert DeltaSink(spark, tmp_path).tables() == ["shop.orders"]


@pytest.mark.parametrize("dropped", ["keep", pytest.param("drop", marks=pytest.mark.long)])
def test_a_tombstone_is_its_delete_and_tells_nothing_of_columns(
    spark: SparkSession, tmp_path: Path, dropped: str
) -> None:
    """Compaction takes a DELETE away, and leaves its tombstone for a while."""
    types, place = (
        {"id": "bigint", "n": "int"},
        copies(spark, tmp_path, history=True, schema_changes={"dropped": dropped}),
    )
    rows = [
        change("t", "INSERT", str(key), 10 + key, types=types, id=str(key), n="1")
        for key in (1, 2, 3)
    ]
    newer, older, whole = (
        change("t", "DELETE", key, order, types=types, id=key, n="1")
        for key, order in (("1", 20), ("2", 5), ("3", 21))
    )
    for messages in (
        rows,
        [tombstone(newer), tombstone(older)],
        [whole, tombstone(whole)],
    ):
        figures = place.apply(records(spark, messages), "tests")
    assert (figures.rows, figures.winners) == (2, 1)
    assert copy_of(spark, tmp_path) == {2: {"id": 2, "n": 1}}
    versions = DeltaSink(spark, tmp_path / "_history").read("shop.orders")
    assert versions is not None
    assert sorted((row["_execute_position"], row["id"]) for row in versions.collect()) == [
        (11, 1),
        (12, 2),
        (13, 3),
        (21, 3),
    ]


@pytest.mark.parametrize("rule", [{}, {"raw_rule": True}], ids=["pair", "raw"])
def test_records_of_others_without_a_value_are_put_aside_and_counted(
    spark: SparkSession, tmp_path: Path, rule: Mapping[str, Any]
) -> None:
    row = change("t", "INSERT", "1", 1, fields={"es": 1}, source="1:b.1:4", id="1")
    empty, foreign = replace(row, key=None, value=None), replace(row, value=None, headers=())
    figures = apply(spark, tmp_path, row, replace(empty, headers=()), empty, foreign, **rule)
    counted = {"the record has neither key nor value": 2}
    assert figures.problems == (
        counted if rule else {**counted, "the record has no value and no order header": 1}
    )
    assert list(copy_of(spark, tmp_path)) == ["1"]
    assert Quarantine(str(tmp_path)).read(spark).count() == sum(figures.problems.values())


def test_what_comes_later_than_deletes_are_remembered_is_put_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    day_ms = 86_400_000

    def on_day(kind: str, key: str, day: int) -> OutboundMessage:
        return change("t", kind, key, day, time_ms=day * day_ms, id=key)

    apply(spark, tmp_path, on_day("INSERT", "1", 1), on_day("DELETE", "1", 2))
    gone = DeltaSink(spark, tmp_path).read("shop.orders")
    assert gone is not None
    assert [(row["id"], row["_deleted"]) for row in gone.collect()] == [("1", True)]
    apply(spark, tmp_path, on_day("INSERT", "2", 20), guards_days=10, tidy_minutes=0)
    copy = DeltaSink(spark, tmp_path).read("shop.orders")
    assert copy is not None
    assert [row["id"] for row in copy.collect()] == ["2"]
    apply(spark, tmp_path, on_day("UPDATE", "1", 1), guards_days=10)
    assert list(copy_of(spark, tmp_path)) == ["2"]
    aside = Quarantine(str(tmp_path)).read(spark).collect()
    assert [(row["problem"].partition(" that ")[0], row["value"] is None) for row in aside] == [
        ("table shop.orders has a change", False)
    ]


@pytest.mark.long
def test_compaction_leaves_one_file_and_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    place = copies(spark, tmp_path)
    for order in range(2):
        place.apply(
            records(spark, [change("t", "INSERT", str(order), order, id=str(order))]),
            "tests",
            order,
        )
    before = copy_of(spark, tmp_path)
    place.sink.tidy()
    detail = (
        DeltaTable.forPath(spark, DeltaSink(spark, tmp_path).path("shop.orders"))
        .detail()
        .collect()[0]
    )
    assert (detail["numFiles"], copy_of(spark, tmp_path)) == (1, before)
    assert detail["properties"]["delta.enableDeletionVectors"] == "false"


def test_two_writers_of_one_copy_wait_for_each_other(spark: SparkSession, tmp_path: Path) -> None:
    """As when a first copy runs beside the stream: both make the table, then both merge into it."""

    def write(parity: int) -> None:
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "1")
        for order in range(parity, 4, 2):
            shared, own = (
                change("t", "UPDATE", "s", order, id="s", n=str(order)),
                change("t", "INSERT", f"{order}", order, id=f"{order}"),
            )
            apply(session, tmp_path, shared, own)

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(write, parity) for parity in (0, 1)]:
            each.result()
    rows = copy_of(spark, tmp_path)
    assert rows["s"]["n"] == "3"
    assert len(rows) == 5


def test_many_tables_are_one_pass_and_bounded_merges(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(6)]
    messages = [
        change("t", "INSERT", key, order, table=name, id=key)
        for order, name in enumerate(names)
        for key in ("1", "2")
    ]
    figures = apply(spark, tmp_path, *messages, merge_threads=3)
    assert (figures.rows, figures.winners) == (12, 12)
    assert DeltaSink(spark, tmp_path).tables() == [f"shop.{name}" for name in names]
    assert list(copy_of(spark, tmp_path, "t04")) == ["1", "2"]

"""Batches of many small tables, whose files one Spark job writes: the same copies as table by
table, and what happens to one table leaves the others as they are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.sinks import DeltaSink
from spark_jobs.sinks.delta_lake import small_tables
from spark_jobs.sinks.delta_lake.transaction import OpenCopy
from spark_jobs.sinks.sink import TableBatch, Written
from tests.support.copies.spark_copies import apply, change, copies, copy_of, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
NAMES = [f"t{number}" for number in range(5)]
TYPES = [
    {"id": "bigint", "n": "int", "at": "datetime(6)", "price": "decimal(12,2)"},
    {"id": "bigint", "n": "varchar(9)", "b": "varbinary(9)", "on": "date"},
    {"id": "bigint", "n": "double", "when": "timestamp(3)", "f": "float"},
    {"id": "bigint", "n": "text", "flag": "tinyint(1)"},
    {"id": "bigint", "n": "bigint unsigned", "MixedCase": "json"},
]
VALUES = {
    "at": "2024-02-29 12:34:56.789012",
    "price": "-12.50",
    "b": "AAH/",
    "on": "0000-00-00",
    "when": "1999-12-31 23:59:59.999",
    "f": "1.5",
    "flag": "1",
    "MixedCase": '{"a": 1}',
}


class BrokenOff(Exception):
    """Raised where a crash would strike."""


def row(table: int, key: int, order: int, kind: str = "UPDATE", **more: str) -> OutboundMessage:
    """Return a change of one of the tables, whose `n` is its order."""
    own = {name: VALUES[name] for name in TYPES[table] if name in VALUES}
    types = {**TYPES[table], **dict.fromkeys(more, "text")}
    data = {"id": str(key), "n": str(order), **own, **more}
    return change("t", kind, str(key), order, table=NAMES[table], types=types, row=data)


def everywhere(*changes: tuple[int, int]) -> list[OutboundMessage]:
    """Return changes (key, order) of every table."""
    return [row(table, *each) for table in range(len(NAMES)) for each in changes]


def orders(spark: SparkSession, root: Path) -> list[dict[int, int]]:
    """Return the orders of each table's rows by key."""
    found = [copy_of(spark, root, name) for name in NAMES]
    return [{key: int(float(row["n"])) for key, row in rows.items()} for rows in found]


@pytest.fixture
def alone() -> Iterator[list[str]]:
    """The tables that were merged alone, since they had a copy."""
    merged: list[str] = []
    merge = DeltaSink._merge  # noqa: SLF001

    def noted(sink: DeltaSink, changes: TableBatch, *others: Any) -> Written:
        merged.append(changes.table)
        return merge(sink, changes, *others)

    with patch.object(DeltaSink, "_merge", noted):
        yield merged


def _contents(spark: SparkSession, root: Path, name: str) -> tuple[list[Any], list[str]]:
    """Return the rows of a copy with their guards, and the statistics of its files."""
    path = DeltaSink(spark, root).path(f"shop.{name}")
    rows = spark.read.format("delta").load(path)
    log = OpenCopy.at(spark, path)
    assert log is not None
    files = log.transaction.snapshot().allFiles().collectAsList()
    return sorted(map(str, rows.collect())), sorted(str(each.stats()) for each in files)


def test_copies_are_the_same_as_written_table_by_table(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    batches = [
        everywhere(*((key, key) for key in range(8))),
        everywhere((1, 21), (2, 1), (3, 3), (9, 22)),
        [row(table, 4, 30 + table, "DELETE") for table in range(5)],
        everywhere((4, 29), (9, 40)),
        everywhere((5, 2), (6, 1)),
    ]
    together, apart = tmp_path / "together", tmp_path / "apart"
    figures = [apply(spark, together, *each, number=at) for at, each in enumerate(batches)]
    assert sorted(set(alone)) == [f"shop.{name}" for name in NAMES]
    assert len(alone) == len(NAMES)  # each made its copy in the first batch
    with patch.object(small_tables, "_FEWEST_TABLES", 1000):
        for at, each in enumerate(batches):
            assert apply(spark, apart, *each, number=at).winners == figures[at].winners
    assert [each.winners for each in figures] == [40, 15, 5, 5, 0]
    for name in NAMES:
        assert _contents(spark, together, name) == _contents(spark, apart, name)


def test_a_batch_is_few_jobs_whatever_its_tables(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, *everywhere((1, 1)))
    place, context = copies(spark, tmp_path), spark.sparkContext
    write, jobs = DeltaSink.write, []

    def counted(sink: DeltaSink, *arguments: Any) -> Any:
        context.setJobGroup("small tables", "")
        try:
            return write(sink, *arguments)
        finally:
            context._jsc.sc().listenerBus().waitUntilEmpty()  # noqa: SLF001 - the tracker hears of jobs through it
            jobs.extend(context.statusTracker().getJobIdsForGroup("small tables"))
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type] # as PySpark itself clears it

    with patch.object(DeltaSink, "write", counted):
        place.apply(records(spark, everywhere((1, 2), (2, 3))), "tests")
    assert 1 <= len(jobs) <= 2
    assert orders(spark, tmp_path) == [{1: 2, 2: 3}] * 5


def test_a_table_whose_files_cannot_be_read_leaves_the_others_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    apply(spark, tmp_path, *everywhere((1, 1), (2, 2)), number=0)
    file = next((tmp_path / "shop" / "t2").glob("*.parquet"))
    kept = file.rename(tmp_path / "kept")
    with pytest.raises((PySparkException, Py4JJavaError), match=file.name):
        apply(spark, tmp_path, *everywhere((1, 5)), number=1)
    kept.rename(file)
    assert orders(spark, tmp_path) == [{1: 1 if each == 2 else 5, 2: 2} for each in range(5)]
    figures = apply(spark, tmp_path, *everywhere((1, 5)), number=1)
    assert (figures.winners, figures.replayed) == (1, 4)
    assert orders(spark, tmp_path) == [{1: 5, 2: 2}] * 5


def test_tables_of_a_job_that_failed_are_merged_alone(
    spark: SparkSession, tmp_path: Path, alone: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    apply(spark, tmp_path, *everywhere((1, 1)), number=0)
    alone.clear()
    with patch.object(small_tables, "rewritten", side_effect=PySparkException("a lost executor")):
        assert apply(spark, tmp_path, *everywhere((1, 5)), number=1).winners == 5
    assert (len(alone), orders(spark, tmp_path)) == (5, [{1: 5}] * 5)
    assert "5 tables are written one by one" in capsys.readouterr().err


def test_a_batch_that_was_cut_off_between_commits_is_completed(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    apply(spark, tmp_path, *everywhere((1, 1)), number=0)
    alone.clear()
    with _before_commits(broken_off(after=2)), pytest.raises(BrokenOff):
        apply(spark, tmp_path, *everywhere((1, 5), (2, 6)), number=1)
    figures = apply(spark, tmp_path, *everywhere((1, 5), (2, 6)), number=1)
    assert (figures.winners, figures.replayed) == (6, 2)
    assert orders(spark, tmp_path) == [{1: 5, 2: 6}] * 5
    assert alone == []


def test_a_table_with_a_new_column_is_changed_alone(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    apply(spark, tmp_path, *everywhere((1, 1)))
    alone.clear()
    changed = [each for each in everywhere((1, 5)) if b"shop.t3" not in (each.key or b"")]
    apply(spark, tmp_path, *changed, row(3, 1, 5, note="new"))
    assert alone == ["shop.t3"]
    assert copy_of(spark, tmp_path, "t3")[1]["note"] == "new"
    alone.clear()
    apply(spark, tmp_path, *everywhere((1, 6)))
    assert (alone, orders(spark, tmp_path)) == ([], [{1: 6}] * 5)
    assert copy_of(spark, tmp_path, "t3")[1]["note"] is None


def test_another_writers_commit_in_between_makes_its_table_be_decided_again(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    """As where no lock keeps writers from each other, which is everywhere but on a local disk."""
    apply(spark, tmp_path, *everywhere((1, 1)))
    alone.clear()

    def other(copy: OpenCopy) -> None:
        if str(copy.log.dataPath()).endswith("/t1") and not alone:
            alone.append("")
            apply(spark, tmp_path, row(1, 1, 9), row(1, 7, 7))

    with (
        _before_commits(other),
        patch("spark_jobs.sinks.delta_lake.sink.alone", lambda *_: nullcontext()),
        patch("spark_jobs.sinks.delta_lake.small_tables.alone", lambda *_: nullcontext()),
    ):
        figures = apply(spark, tmp_path, *everywhere((1, 5), (7, 8)))
    assert figures.winners == 9
    assert orders(spark, tmp_path) == [{1: 9 if each == 1 else 5, 7: 8} for each in range(5)]
    assert alone.count("shop.t1") == 2  # the other writer's, and this one's again


@pytest.mark.parametrize(
    "properties",
    ["'delta.enableChangeDataFeed' = 'true'", "'delta.columnMapping.mode' = 'name'"],
    ids=["change data feed", "column mapping"],
)
def test_tables_with_further_rules_are_merged_alone(
    spark: SparkSession, tmp_path: Path, alone: list[str], properties: str
) -> None:
    apply(spark, tmp_path, *everywhere((1, 1)))
    path = DeltaSink(spark, tmp_path).path("shop.t2")
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ({properties})")
    alone.clear()
    apply(spark, tmp_path, *everywhere((1, 5)))
    assert (alone, orders(spark, tmp_path)) == (["shop.t2"], [{1: 5}] * 5)


def test_a_copy_with_several_rows_of_a_key_is_merged_alone(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    """Only a join finds all of them, so that none stays beside the change."""
    apply(spark, tmp_path, *everywhere((1, 1), (2, 2)))
    path = DeltaSink(spark, tmp_path).path("shop.t2")
    held = spark.read.format("delta").load(path).where("n = 1").collect()
    spark.createDataFrame(held, spark.read.format("delta").load(path).schema).write.format(
        "delta"
    ).mode("append").save(path)
    alone.clear()
    apply(spark, tmp_path, *everywhere((1, 5)))
    rows = spark.read.format("delta").load(path).select("id", "n").collect()
    assert sorted(map(tuple, rows)) == [(1, 5.0), (2, 2.0)]
    assert (alone, orders(spark, tmp_path)) == (["shop.t2"], [{1: 5, 2: 2}] * 5)


def test_tables_with_deletion_vectors_are_merged_alone(
    spark: SparkSession, tmp_path: Path, alone: list[str]
) -> None:
    for order in (1, 2):
        apply(spark, tmp_path, *everywhere((1, order)), delta={"deletion_vectors": True})
    assert len(alone) == 2 * len(NAMES)
    assert orders(spark, tmp_path) == [{1: 2}] * 5


def broken_off(after: int) -> Callable[[OpenCopy], None]:
    """Return a function that raises BrokenOff after so many calls."""
    calls: list[OpenCopy] = []

    def called(copy: OpenCopy) -> None:
        calls.append(copy)
        if len(calls) > after:
            raise BrokenOff

    return called


def _before_commits(call: Callable[[OpenCopy], None]) -> Any:
    """Context manager: call a function before each commit."""
    commit = OpenCopy.commit

    def called(copy: OpenCopy, *arguments: Sequence[Any]) -> None:
        call(copy)
        commit(copy, *arguments)  # type: ignore[arg-type]

    return patch.object(OpenCopy, "commit", called)

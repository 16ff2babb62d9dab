"""Commits that are decided about before they are written: what a MERGE would have done, and where
only a MERGE will do.
"""

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyspark.sql.functions as sf
import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.sinks import DeltaSink
from spark_jobs.sinks.delta_lake.commit import put
from spark_jobs.sinks.delta_lake.transaction import OpenCopy
from spark_jobs.sinks.hadoop import hadoop_path
from spark_jobs.sinks.sink import Written
from spark_jobs.spark_util.jvm import java_class
from tests.support.copies.spark_copies import apply, batch, copy_of

_MANY_TASKS = {"commit._ROWS_OF_ONE_TASK": 0}
_FILES_IN_CHECKSUM = "spark.databricks.delta.allFilesInCrc.enabled"
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def _last_commit(spark: SparkSession, root: Path) -> dict[str, Any]:
    path = DeltaSink(spark, root).path("shop.orders")
    return {**DeltaTable.forPath(spark, path).history(1).collect()[0].asDict()}


def _texts(spark: SparkSession, root: Path) -> dict[str, str]:
    return {key: row["n"] for key, row in copy_of(spark, root).items()}


def test_winners_are_written_losers_are_not_and_the_rest_of_the_copy_stays_where_it_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    apply(
        spark,
        tmp_path,
        *batch(*((str(key), key, "old") for key in range(20))),
        delta={"deletion_vectors": True},
    )
    untouched = set(
        spark.read.format("delta").load(DeltaSink(spark, tmp_path).path("shop.orders")).inputFiles()
    )
    figures = apply(
        spark,
        tmp_path,
        *batch(("1", 30, "new"), ("2", 2, "same order"), ("19", 3, "late"), ("30", 31, "first")),
    )
    assert (figures.keys, figures.winners) == (4, 3)
    assert _texts(spark, tmp_path) == {
        **{str(key): "old" for key in range(20)},
        "1": "new",
        "2": "same order",
        "30": "first",
    }
    assert untouched < set(
        spark.read.format("delta").load(DeltaSink(spark, tmp_path).path("shop.orders")).inputFiles()
    )
    told = _last_commit(spark, tmp_path)["operationMetrics"]
    assert {name: told[f"numTarget{name}"] for name in ("RowsInserted", "RowsUpdated")} == {
        "RowsInserted": "1",
        "RowsUpdated": "2",
    }


def test_a_file_none_of_whose_rows_is_left_goes(spark: SparkSession, tmp_path: Path) -> None:
    for order in range(0, 4, 2):
        apply(spark, tmp_path, *batch(("1", order, f"{order}"), ("2", order + 1, f"{order}")))
    assert _texts(spark, tmp_path) == {"1": "2", "2": "2"}
    assert (
        len(
            spark.read.format("delta")
            .load(DeltaSink(spark, tmp_path).path("shop.orders"))
            .inputFiles()
        )
        == 1
    )


def test_a_batch_of_losers_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, *batch(("1", 5, "new"), ("2", 6, "new")), number=0)
    late = [
        apply(spark, tmp_path, *batch(("1", 3, "late"), ("2", 4, "late")), number=1)
        for _ in range(2)
    ]
    assert [(each.winners, each.replayed) for each in late] == [(0, 0), (0, 1)]
    assert _texts(spark, tmp_path) == {"1": "new", "2": "new"}


def test_another_writers_commit_in_between_is_seen_and_decided_about_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Both insert one key that the copy had not, the other one newer: a blind append would leave
    two rows.

    As where no lock keeps writers from each other, which is everywhere but on a local disk.
    """
    apply(spark, tmp_path, *batch(("0", 1, "first")))
    commit, opened = OpenCopy.commit, [("9", 8, "newer"), ("0", 9, "newest")]

    def after_another(copy: OpenCopy, *arguments: Any) -> None:
        if opened:
            others, opened[:] = list(opened), []
            apply(spark, tmp_path, *batch(*others), number=0)
        commit(copy, *arguments)

    with (
        patch.object(OpenCopy, "commit", after_another),
        patch("spark_jobs.sinks.delta_lake.sink.alone", lambda *_: nullcontext()),
    ):
        figures = apply(spark, tmp_path, *batch(("9", 7, "older"), ("1", 6, "own")))
    assert figures.winners == 1
    assert _texts(spark, tmp_path) == {"0": "newest", "9": "newer", "1": "own"}


MANY_FILES = {**_MANY_TASKS, "transaction._FILES_LOOKED_AT": 0}
LARGE_BATCHES = ("false", {**MANY_FILES, "marks._MARKED_HERE": 0, "commit._FEW": 0})
LARGE_COPY_OF_MANY_FILES = ("false", {**MANY_FILES, "commit._LOOKED_THROUGH_BYTES": 0})
LARGE_COPY = ("true", {**_MANY_TASKS, "commit._LOOKED_THROUGH_BYTES": 0})
SMALL_COPY: tuple[str, dict[str, int]] = ("true", {})


@pytest.mark.parametrize(
    ("told", "limits", "vectors"),
    [
        pytest.param(*LARGE_BATCHES, True, id="many files, large batches, deletion vectors"),
        pytest.param(
            *LARGE_BATCHES,
            False,
            id="many files, large batches, files written again",
            marks=pytest.mark.long,
        ),
        pytest.param(
            *LARGE_COPY_OF_MANY_FILES,
            True,
            id="many files, a large copy, deletion vectors",
            marks=pytest.mark.long,
        ),
        pytest.param(
            *LARGE_COPY_OF_MANY_FILES, False, id="many files, a large copy, files written again"
        ),
        pytest.param(
            *LARGE_COPY, True, id="a large copy, deletion vectors", marks=pytest.mark.long
        ),
        pytest.param(
            *LARGE_COPY, False, id="a large copy, files written again", marks=pytest.mark.long
        ),
        pytest.param(
            *SMALL_COPY, True, id="a small copy, deletion vectors", marks=pytest.mark.long
        ),
        pytest.param(
            *SMALL_COPY, False, id="a small copy, files written again", marks=pytest.mark.long
        ),
    ],
)
def test_the_copy_is_the_same_whatever_spark_is_asked(
    spark: SparkSession, tmp_path: Path, told: str, limits: dict[str, int], vectors: bool
) -> None:
    made = {"deletion_vectors": vectors}
    spark.conf.set(_FILES_IN_CHECKSUM, told)
    try:
        with ExitStack() as stack:
            for name, limit in limits.items():
                stack.enter_context(patch(f"spark_jobs.sinks.delta_lake.{name}", limit))
            apply(
                spark,
                tmp_path,
                *batch(*((str(key), key, "old") for key in range(20))),
                number=0,
                delta=made,
            )
            for number, replayed in ((1, 0), (2, 0), (2, 1)):
                changes = [
                    (str(key), 20 * number + key, f"new {number}") for key in range(number, 20, 3)
                ]
                others = [("0", 0, "same order"), ("3", 1, "late"), (f"own {number}", 90, "first")]
                assert (
                    apply(spark, tmp_path, *batch(*changes, *others), number=number).replayed
                    == replayed
                )
            apply(spark, tmp_path, *batch(("own 2", 91, "alone")), number=3)
    finally:
        spark.conf.unset(_FILES_IN_CHECKSUM)
    newest = {str(key): ("old", "new 1", "new 2")[key % 3] for key in range(20)}
    assert _texts(spark, tmp_path) == {
        **newest,
        "0": "same order",
        "own 1": "first",
        "own 2": "alone",
    }


def test_files_whose_keys_are_others_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    for number, letter in enumerate("abc"):
        apply(
            spark,
            tmp_path,
            *batch(*((f"{letter}{key}", 10 * number + key, "old") for key in range(10))),
            number=number,
        )
    read: list[int] = []
    reading = OpenCopy.reading

    def noted(copy: OpenCopy, *arguments: Any) -> OpenCopy:
        opened = reading(copy, *arguments)
        read.append(opened.files.size())
        return opened

    with (
        patch.object(OpenCopy, "reading", noted),
        patch("spark_jobs.sinks.delta_lake.commit._LOOKED_THROUGH_BYTES", 0),
    ):
        apply(spark, tmp_path, *batch(("b3", 33, "new"), ("b5", 35, "new")), number=3)
        apply(spark, tmp_path, *batch(("a1", 41, "new"), ("c9", 49, "new")), number=4)
    assert read == [1, 2]
    old = {f"{letter}{key}": "old" for letter in "abc" for key in range(10)}
    assert _texts(spark, tmp_path) == {**old, **dict.fromkeys(("b3", "b5", "a1", "c9"), "new")}


def test_keys_of_one_hash_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, *batch(*((str(key), key, "old") for key in range(6))))
    by_length = patch(
        "spark_jobs.sinks.delta_lake.commit.sf.xxhash64",
        side_effect=lambda column: sf.length(column).cast("long"),
    )
    with by_length as called, patch("spark_jobs.sinks.delta_lake.commit._ROWS_OF_ONE_TASK", 0):
        figures = apply(
            spark,
            tmp_path,
            *batch(("1", 11, "new"), ("2", 12, "new"), ("3", 0, "late"), ("7", 17, "first")),
        )
    assert called.called
    assert (figures.keys, figures.winners) == (4, 3)
    assert _texts(spark, tmp_path) == {
        **{str(key): "old" for key in range(6)},
        "1": "new",
        "2": "new",
        "7": "first",
    }


def test_a_commit_without_a_checksum_beside_it_is_seen_and_built_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    with patch.object(OpenCopy, "_checksum", None):
        for number in (0, 1, 1):
            figures = apply(
                spark, tmp_path, *batch(("1", number, f"{number}"), ("2", 0, "same")), number=number
            )
    assert (figures.winners, figures.replayed) == (0, 1)
    assert _texts(spark, tmp_path) == {"1": "1", "2": "same"}


def test_a_small_batch_is_one_file(spark: SparkSession, tmp_path: Path) -> None:
    for order in range(0, 20, 10):
        apply(
            spark,
            tmp_path,
            *batch(*((f"{order + each}", order + each, "new") for each in range(10))),
        )
    assert (
        len(
            spark.read.format("delta")
            .load(DeltaSink(spark, tmp_path).path("shop.orders"))
            .inputFiles()
        )
        == 2
    )


@pytest.mark.parametrize(
    ("vectors", "most"), [pytest.param(True, 3, marks=pytest.mark.long), (False, 4)]
)
def test_a_small_batch_into_a_small_copy_is_few_jobs(
    spark: SparkSession, tmp_path: Path, vectors: bool, most: int
) -> None:
    """One decides, one writes: with a thousand tables each further one would be a thousand.

    Spark runs one of its own beside them now and then (adaptive stages, Delta's log); a MERGE would
    be five.
    """
    apply(
        spark,
        tmp_path,
        *batch(*((str(key), key, "old") for key in range(6))),
        delta={"deletion_vectors": vectors},
    )
    jobs: list[int] = []

    def counted(*arguments: Any) -> Written | None:
        spark.sparkContext.setJobGroup(f"small {vectors}", "")
        try:
            return put(*arguments)
        finally:
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()  # noqa: SLF001 - the tracker hears of jobs through it
            jobs.extend(spark.sparkContext.statusTracker().getJobIdsForGroup(f"small {vectors}"))
            spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type] # as PySpark itself clears it

    with patch("spark_jobs.sinks.delta_lake.sink.put", counted):
        apply(spark, tmp_path, *batch(("1", 11, "new"), ("7", 17, "first")))
    store: Any = spark.sparkContext._jsc.sc().statusStore()  # noqa: SLF001
    assert 2 <= len(jobs) <= most, [store.job(job).name() for job in sorted(jobs)]
    assert _texts(spark, tmp_path) == {
        **{str(key): "old" for key in range(6)},
        "1": "new",
        "7": "first",
    }


def test_the_log_on_a_local_disk_is_written_without_the_help_of_programs(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = java_class(spark, "org.apache.spark.sql.delta.storage.LogStore").apply(
        spark._jsparkSession  # noqa: SLF001
    )
    chosen = store.getDelegate(hadoop_path(spark, tmp_path.as_uri())).logStoreImpl()
    assert chosen.getClass().getSimpleName() == "LocalLogStore"


def test_an_order_that_no_position_has_is_put_aside(spark: SparkSession, tmp_path: Path) -> None:
    """Its position would be null, and a null is neither before nor behind another."""
    beyond = replace(
        batch(("1", 1, "beyond"))[0], headers=(("order", b"1700000000000.9223372036854775808"),)
    )
    figures = apply(spark, tmp_path, beyond, *batch(("2", 2, "own")))
    assert (figures.problems, _texts(spark, tmp_path)) == (
        {"the order header is beyond 63 bits": 1},
        {"2": "own"},
    )


@pytest.mark.parametrize("on", ["true", "TRUE"])
def test_tables_whose_commits_must_tell_more_are_merged_into(
    spark: SparkSession, tmp_path: Path, on: str
) -> None:
    apply(spark, tmp_path, *batch(("1", 1, "old"), ("2", 2, "old")))
    path = DeltaSink(spark, tmp_path).path("shop.orders")
    spark.sql(
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableChangeDataFeed' = '{on}')"
    )
    assert OpenCopy.at(spark, path) is None
    apply(spark, tmp_path, *batch(("1", 3, "new"), ("2", 1, "late"), ("3", 4, "new")))
    assert _texts(spark, tmp_path) == {"1": "new", "2": "old", "3": "new"}
    assert "numTargetRowsMatchedUpdated" in _last_commit(spark, tmp_path)["operationMetrics"]


def test_another_delta_is_merged_into(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, *batch(("1", 1, "old")))
    with patch("spark_jobs.sinks.delta_lake.transaction._DELTA", "another"):
        apply(spark, tmp_path, *batch(("1", 2, "new"), ("2", 3, "new")))
        assert OpenCopy.at(spark, DeltaSink(spark, tmp_path).path("shop.orders")) is None
    assert _texts(spark, tmp_path) == {"1": "new", "2": "new"}

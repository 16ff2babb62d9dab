"""The tables of the Spark figures."""

from dataclasses import replace

import pytest

from tools.bench.spark.delta import BatchCost, growth_report
from tools.bench.spark.hbase import CLASSIC
from tools.bench.spark.job_run import Batch, UsageMeter, rate
from tools.bench.spark.run import SparkRun, spark_report

LOOP = SparkRun(
    CLASSIC, 100, 50.0, 50.0, {"client": 1.0}, {"client": 30_000_000}, None, beside=CLASSIC
)
WATCHED = UsageMeter({}, cpu_s={"client": 0.5}, peaks={"client": 2_000_000_000})


def test_a_job_is_compared_with_the_loop_whole_and_warm() -> None:
    batches = [Batch(1000, 10.0), Batch(1000, 1.0), Batch(1000, 1.0)]
    job = SparkRun.of_job("guard version", batches, 1, WATCHED, exact=True, beside=CLASSIC)
    report = spark_report("HBase", [LOOP, job], ["a note"], CLASSIC)
    assert report.rows[0] == (
        CLASSIC,
        "-",
        "100",
        "50",
        "50",
        "1.0",
        "1.0",
        "client 10000",
        "client 30",
    )
    assert report.rows[1] == (
        "guard version",
        "equal",
        "3,000",
        "250",
        "1,000",
        "5.0",
        "20.0",
        "client 167",
        "client 2,000",
    )
    assert len(report.head) == len(report.rows[0])
    assert [run["what"] for run in report.measured] == [CLASSIC, "guard version"]


def test_what_the_sink_does_by_itself_stands_beside_the_loop() -> None:
    loop = replace(LOOP, rows_per_second=50.0)
    job = SparkRun.of_job(
        "files", [Batch(1000, 10.0)], 0, WATCHED, exact=True, rows_per_second=2000.0, beside=CLASSIC
    )
    report = spark_report("HBase", [loop, job], [], CLASSIC)
    assert [
        dict(zip(report.head, row, strict=True))["rows/s into the copy, warm"]
        for row in report.rows
    ] == ["50", "2,000"]
    assert [
        dict(zip(report.head, row, strict=True))[f"times {CLASSIC}, warm"] for row in report.rows
    ] == ["1.0", "40.0"]


def test_each_job_is_compared_with_its_own_loop() -> None:
    slow, fast = (
        replace(LOOP, what=what, whole_per_second=rate, beside=what)
        for what, rate in (("slow", 10.0), ("fast", 100.0))
    )
    jobs = [
        SparkRun.of_job("job", [Batch(1000, 1.0)], 0, WATCHED, exact=True, beside=beside)
        for beside in ("slow", "fast", "absent", None)
    ]
    report = spark_report("HBase", [slow, fast, *jobs], [], CLASSIC)
    assert [row[report.head.index(f"times {CLASSIC}")] for row in report.rows] == [
        "1.0",
        "1.0",
        "100.0",
        "10.0",
        "-",
        "-",
    ]


@pytest.mark.parametrize(("exact", "shown"), [(True, "equal"), (False, "DIFFERENT"), (None, "-")])
def test_a_copy_that_differs_is_shown(exact: bool | None, shown: str) -> None:
    run = SparkRun("x", 1, 1.0, 1.0, {}, {}, exact)
    assert spark_report("t", [run], []).rows[0][1] == shown


def test_a_job_that_is_shorter_than_its_warm_up_counts_whole() -> None:
    run = SparkRun.of_job("x", [Batch(100, 2.0)], 2, WATCHED, exact=True)
    assert (run.whole_per_second, run.warm_per_second, rate([Batch(10, 2.0)])) == (50.0, 50.0, 5.0)


def test_a_batch_is_told_by_changes_and_table() -> None:
    report = growth_report([BatchCost(1_000_000, True, "recent", 50_000, 2.5, 4.0)])
    assert report.rows == [("1,000,000", "yes", "recent", "50,000", "2.50", "50.0", "4.00")]

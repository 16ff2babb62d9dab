"""Two jobs at one place: the system keeps them apart, or it is refused until somebody promises that
there is one.
"""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import call, patch

import pytest
from pyspark.sql import SparkSession

from spark_jobs import dedup_batch
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.errors import CopiesUnguarded, JobConfigurationError
from spark_jobs.sinks import check_writers
from spark_jobs.sinks.local_lock import alone
from tests.support.copies.spark_copies import apply, change, copies
from tests.support.waiting import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

STORE: Final = "spark.delta.logStore.s3a.impl"
_HOLDS: Final = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def on(root: str) -> JobSettings:
    return JobSettings(
        kafka=KafkaSource(bootstrap_servers="127.0.0.1:1", topics=("none",)), copy_root=root
    )


@pytest.fixture
def own_settings(spark: SparkSession) -> Iterator[SparkSession]:
    """Everybody's session, without what the test set in it."""
    yield spark
    for name in (STORE, "fs.defaultFS"):
        spark.conf.unset(name)


def test_copies_on_s3_need_a_promise_or_a_log_store(own_settings: SparkSession) -> None:
    bucket = on("s3a://bucket/copies")
    with pytest.raises(
        CopiesUnguarded, match=r"^s3a://bucket/copies: if two jobs .* set copy_writers = 'one'"
    ):
        dedup_batch.run(bucket)
    check_writers(own_settings, bucket.model_copy(update={"copy_writers": "one"}))
    own_settings.conf.set(STORE, "io.delta.storage.S3DynamoDBLogStore")
    check_writers(own_settings, bucket)


def test_a_path_lies_where_hadoop_says(own_settings: SparkSession) -> None:
    check_writers(own_settings, on("/copies"))
    own_settings.conf.set("fs.defaultFS", "s3a://bucket")
    with pytest.raises(CopiesUnguarded):
        check_writers(own_settings, on("/copies"))


@contextmanager
def another_job_at(place: Path) -> Iterator[Path]:
    """Another process that writes at this place, until the block ends."""
    lock = place.with_name(f".{place.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield lock
        other.communicate()


def waits_for(lock: Path) -> bool:
    """Whether somebody does; proc(5) marks who waits with an arrow."""
    return any(
        "-> FLOCK" in line and f":{lock.stat().st_ino} " in line
        for line in Path("/proc/locks").read_text().splitlines()
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("sink", "place"),
    [
        ("delta", "shop/orders"),
        pytest.param("delta", "_history/shop/orders", marks=pytest.mark.long),
        ("delta", "_quarantine"),
        ("parquet", "shop/orders/_writer"),
    ],
)
def test_on_a_local_disk_a_write_waits_for_that_of_another_job(
    spark: SparkSession, tmp_path: Path, sink: str, place: str
) -> None:
    """Delta on a local disk puts a commit over one that another process has just made."""
    written = [
        change("t", "INSERT", "1", 1, id="1"),
        change("t", "UPDATE", None, 2, table="log", id="1"),
    ]
    with ThreadPoolExecutor(1) as pool:
        own, notice = (
            alone.__module__,
            call(f"{tmp_path / place}: waits for another job that writes there"),
        )
        with (
            another_job_at(tmp_path / place) as lock,
            patch(f"{own}._LONG_S", 0),
            patch(f"{own}.print_notice") as told,
        ):
            ours = pool.submit(apply, spark, tmp_path, *written, sink=sink, history=True)
            wait_until(lambda: waits_for(lock), "a write that waits")
            wait_until(lambda: notice in told.call_args_list, "a notice")
            assert not ours.done()
        assert ours.result(60).winners == 1
    found = copies(spark, tmp_path, sink=sink).sink.read("shop.orders")
    assert found is not None
    assert [row["id"] for row in found.collect()] == ["1"]


def test_copies_that_may_not_be_written_are_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "shop").touch()
    with pytest.raises(
        JobConfigurationError,
        match=r"shop/\.orders\.lock: .* must be allowed to write below copy_root",
    ):
        apply(spark, tmp_path, change("t", "INSERT", "1", 1, id="1"))

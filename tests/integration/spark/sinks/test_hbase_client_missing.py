"""A job that is to write with HBase's Java client, in a Spark that was not given it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli_w
from pyspark.sql import SparkSession

from spark_jobs import dedup_batch
from spark_jobs.config.hbase import HBASE_CLIENT
from spark_jobs.errors import HBaseClientMissing
from spark_jobs.hbase import java_classes
from spark_jobs.spark_util.jvm import java_class


@pytest.fixture
def without_its_jars(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This thread of the JVM sees what Spark brings itself, and none of the jars that it was
    given.
    """
    thread = java_class(spark, "java.lang.Thread").currentThread()
    given = thread.getContextClassLoader()
    compiled = java_classes._compiled.__wrapped__  # noqa: SLF001 - what other tests had compiled would be taken as it is
    monkeypatch.setattr(java_classes, "_compiled", compiled)
    thread.setContextClassLoader(given.getParent())
    yield
    thread.setContextClassLoader(given)


@pytest.mark.usefixtures("without_its_jars")
def test_the_job_ends_with_the_name_of_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "job.toml"
    document = {
        "copy_root": str(tmp_path / "copy"),
        "sink": "hbase",
        "kafka": {"bootstrap_servers": "127.0.0.1:1", "topics": ["none"]},
        "hbase": {"thrift": ["127.0.0.1:1"], "client": "jvm", "quorum": ["127.0.0.1:1"]},
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    assert dedup_batch.main(["--config", str(config)]) == 1
    missing = "hbase.client = 'jvm': Spark's JVM has no org.apache.hadoop.hbase.client.AsyncTable."
    assert capsys.readouterr().err == f"{missing} {HBaseClientMissing.remedy}\n"
    assert HBASE_CLIENT in HBaseClientMissing.remedy

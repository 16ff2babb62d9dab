"""Spark of the tests maps the archive of its classes that `make fetch` made."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded.processes.class_archive import archive_options
from deploy.embedded.servers.spark import SPARK_CLASSES, spark_classpath
from spark_jobs.spark_util.jvm import java_class


def test_the_jvm_of_the_session_maps_the_archive(spark: SparkSession) -> None:
    options = archive_options(spark_classpath(), SPARK_CLASSES)
    if not options:
        pytest.skip("`make fetch` could not make the archive, which only saves time")
    file = options[-1].split("=", 1)[1]
    process = java_class(spark, "java.lang.ProcessHandle").current().pid()
    assert file in Path(f"/proc/{process}/maps").read_text()

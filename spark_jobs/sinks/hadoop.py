"""Hadoop's paths, by which Spark reaches all of its file systems."""

from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.spark_util.jvm import java_class


def hadoop_path(spark: SparkSession, place: str) -> Any:
    """Return a path or URI as Java's `org.apache.hadoop.fs.Path`."""
    return java_class(spark, "org.apache.hadoop.fs.Path")(place)


def hadoop_configuration(spark: SparkSession) -> Any:
    """Return Spark's present Hadoop configuration, including the session's settings."""
    session: Any = spark._jsparkSession  # noqa: SLF001
    return session.sessionState().newHadoopConf()

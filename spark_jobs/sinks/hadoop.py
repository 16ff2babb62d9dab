"""Reads and writes small files by Hadoop's file systems, which Spark uses for all paths and
URIs.
"""

from typing import Any, Final

from pyspark.sql import SparkSession

from spark_jobs.spark_util.jvm import java_class

_ENCODING: Final = "UTF-8"


def hadoop_path(spark: SparkSession, place: str) -> Any:
    """Return the path or URI `place` as Java's `org.apache.hadoop.fs.Path`."""
    return java_class(spark, "org.apache.hadoop.fs.Path")(place)


def hadoop_configuration(spark: SparkSession) -> Any:
    """Return Spark's present Hadoop configuration, including the session's settings."""
    session: Any = spark._jsparkSession  # noqa: SLF001
    return session.sessionState().newHadoopConf()


def read_text(spark: SparkSession, place: str) -> str:
    """Return the text of a small file, whose path or URI is `place`.

    Returns "" if the file does not exist, or if it is empty because of a crash.
    """
    path = hadoop_path(spark, place)
    system = path.getFileSystem(hadoop_configuration(spark))
    if not system.exists(path):
        return ""
    stream = system.open(path)
    try:
        return str(java_class(spark, "org.apache.commons.io.IOUtils").toString(stream, _ENCODING))
    finally:
        stream.close()


def write_text(spark: SparkSession, place: str, text: str) -> None:
    """Replace the contents of a small file, whose path or URI is `place`, with `text`."""
    path = hadoop_path(spark, place)
    stream = path.getFileSystem(hadoop_configuration(spark)).create(path, True)
    try:
        stream.write(bytearray(text, _ENCODING))
    finally:
        stream.close()

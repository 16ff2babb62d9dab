"""The Java classes of this package, compiled when a job first uses them."""

from functools import cache
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_jobs.errors import HBaseClientMissing
from spark_jobs.spark_util.java_sources import JavaSources
from spark_jobs.spark_util.jvm import java_class

_SOURCES: Final = JavaSources(
    "spark_jobs.hbase",
    "roma.hbase",
    (
        "RowKey", "Change", "Refusal", "Connections", "Guard", "ByVersion", "ByCheck", "Call",
        "Writer", "RowKeys", "files.Borders", "files.NoCounters", "files.RegionFiles",
        "files.FileWriter", "files.FileLoad", "files.Staging",
    ),
)  # fmt: skip
_NEEDED: Final = (
    "org.apache.hadoop.hbase.client.AsyncTable",
    "org.apache.hadoop.hbase.tool.BulkLoadHFilesTool",
)


def compiled(spark: SparkSession) -> None:
    """Compile the classes and send them to Spark's executors. Raises HBaseClientMissing."""
    _compiled(spark.sparkContext, str(spark.sparkContext.applicationId))


def made(spark: SparkSession, name: str, *arguments: object) -> Any:
    """Return a new Java object of one of these classes, such as `files.Staging`.

    Dicts and lists among the arguments are converted to Java's. Raises HBaseClientMissing.
    """
    compiled(spark)
    return _SOURCES.made(spark, name, *arguments)


@cache
def _compiled(context: SparkContext, _application: str) -> None:
    """Compile the classes, once for each application, if HBase's client is there."""
    loader = java_class(context, "java.lang.Thread").currentThread().getContextClassLoader()
    for needed in _NEEDED:
        try:
            loader.loadClass(needed)
        except Py4JJavaError as exc:
            raise HBaseClientMissing(f"hbase.client = 'jvm': Spark's JVM has no {needed}.") from exc
    _SOURCES.compiled(context)

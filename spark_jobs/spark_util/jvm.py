"""Java's classes, which PySpark has no public way to."""

from collections.abc import Iterable
from typing import Any, Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

PYTHON_UTILS: Final = "org.apache.spark.api.python.PythonUtils"
"""Spark's own help for collections that come from Python."""


def java_class(spark: SparkSession | SparkContext, name: str) -> Any:
    """Return a class of Spark's JVM by its whole name.

    An object of Scala's by the name of its class, where that forwards to it.

    Asked for one name after the other (`jvm.org.apache…`), py4j looks each of them up as if it were
    a class, in every jar.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    return getattr(jvm, name)


def java_seq(spark: SparkSession, objects: Iterable[Any]) -> Any:
    """Return them as a sequence of Scala's."""
    return java_class(spark, PYTHON_UTILS).toSeq(list(objects))

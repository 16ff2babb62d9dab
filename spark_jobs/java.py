"""Java's classes, which PySpark has no public way to."""

from typing import Any

from pyspark.sql import SparkSession


def java_class(spark: SparkSession, name: str) -> Any:
    """Return a class of Spark's JVM by its whole name; an object of Scala's by the name of its class, where that forwards to it.

    Asked for one name after the other (`jvm.org.apache…`), py4j looks each of them up as if it were a class, in every jar.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    return getattr(jvm, name)

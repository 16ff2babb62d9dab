"""Access to classes of Spark's JVM, for which PySpark has no public interface."""

from collections.abc import Iterable
from typing import Any, Final

from py4j.java_gateway import JavaClass, JavaMember
from pyspark import SparkContext
from pyspark.sql import SparkSession

PYTHON_UTILS: Final = "org.apache.spark.api.python.PythonUtils"
"""Spark's Java class that converts Python's collections."""


def java_class(spark: SparkSession | SparkContext, name: str) -> Any:
    """Return the class of Spark's JVM with this full name.

    For a Scala object, give the name of its class, if that has static forwarders. This process
    caches the class. With attribute access (`jvm.org.apache…`), py4j would search every jar for
    each part of the name.
    """
    kept = vars(spark._jvm)  # noqa: SLF001
    if name not in kept:
        kept[name] = _KeptClass(name, spark._jvm._gateway_client)  # type: ignore[union-attr] # noqa: SLF001
    return kept[name]


def java_seq(spark: SparkSession, objects: Iterable[Any]) -> Any:
    """Return the values as a Scala sequence."""
    return java_class(spark, PYTHON_UTILS).toSeq(list(objects))


def keep_class(spark: SparkSession, name: str) -> None:
    """Cache a class of Spark's JVM and its static methods in this process, by full and by short
    name.

    Otherwise py4j looks up class and method in the JVM for each call.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    found = _KeptClass(name, jvm._gateway_client)  # noqa: SLF001
    vars(jvm).update({name: found, name.rpartition(".")[2]: found})


class _KeptClass(JavaClass):
    """A class that looks up each static method once."""

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        if isinstance(member, JavaMember):
            vars(self)[name] = member
        return member

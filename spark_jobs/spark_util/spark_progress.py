"""Reads the progress of Spark's running stages."""

from typing import Any

from pyspark.sql import SparkSession


def rows_being_read(spark: SparkSession) -> int:
    """Return the number of records that Spark's running stage has read. If several stages run, it
    is their greatest number.

    Spark's tasks report it every few seconds.
    """
    context: Any = spark.sparkContext._jsc  # noqa: SLF001 - Spark has no public way to it without its web page
    stages = context.sc().statusStore().activeStages()
    return max(
        (int(stages.apply(number).inputRecords()) for number in range(stages.size())), default=0
    )

"""How many rows the stages that Spark runs now have read."""

from typing import Any

from pyspark.sql import SparkSession


def rows_being_read(spark: SparkSession) -> int:
    """Return the records that the furthest of Spark's running stages has read, as its tasks
    reported last (every few seconds).
    """
    context: Any = spark.sparkContext._jsc  # noqa: SLF001 - Spark has no public way to it without its web page
    stages = context.sc().statusStore().activeStages()
    return max(
        (int(stages.apply(number).inputRecords()) for number in range(stages.size())), default=0
    )

"""Makes a DataFrame of texts in Spark's JVM, so that executors need no Python."""

import json
from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession


def texts(spark: SparkSession, column: str, values: Collection[str]) -> DataFrame:
    """Return a DataFrame with one text column, and one row for each value."""
    listed = json.dumps(list(values))
    return spark.sql(
        "SELECT explode(from_json(:listed, 'array<string>')) AS value", args={"listed": listed}
    ).toDF(column)

"""A list of texts as a DataFrame, made where Spark runs: no Python is needed on executors."""

import json
from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession


def texts(spark: SparkSession, column: str, values: Collection[str]) -> DataFrame:
    """Return one row for each of the values."""
    listed = json.dumps(list(values))
    return spark.sql(
        "SELECT explode(from_json(:listed, 'array<string>')) AS value", args={"listed": listed}
    ).toDF(column)

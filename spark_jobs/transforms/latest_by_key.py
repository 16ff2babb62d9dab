"""The rule of the whole queue: per key the change with the greatest order wins."""

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame


def latest_by_key(changes: DataFrame) -> DataFrame:
    """Return one row per (table, key): the change with the greatest `order`; shape as `changes`.

    `order` is unique within an instance, so equal orders are one change that was read twice.
    """
    columns = [name for name in changes.columns if name not in ("table", "key")]
    newest = sf.max_by(sf.struct(*columns), sf.col("order")).alias("newest")
    return changes.groupBy("table", "key").agg(newest).select("table", "key", "newest.*").select(*changes.columns)

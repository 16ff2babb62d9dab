"""The rule of the whole queue: per key the change with the greatest order wins."""

from collections.abc import Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

ARRIVAL: Final = ("offset", "row")
"""The position of a change in its partition, which contains all changes of a key."""


def latest_by_key(changes: DataFrame, ties: Sequence[str] = ()) -> DataFrame:
    """Return one row per (table, key): the change with the greatest `order`; shape as `changes`.

    The order key is unique within an instance, so equal orders are one change that was read twice.
    Orders that are not unique (the raw rule's) need `ties`: of equal ones the change with the
    greatest of these columns is applied last, and wins.
    """
    columns = [name for name in changes.columns if name not in ("table", "key")]
    order = sf.struct("order", *ties) if ties else sf.col("order")
    newest = sf.max_by(sf.struct(*columns), order).alias("newest")
    return (
        changes.groupBy("table", "key")
        .agg(newest)
        .select("table", "key", "newest.*")
        .select(*changes.columns)
    )

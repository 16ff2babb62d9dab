"""Applies the order rule: for each key, the change with the greatest order wins."""

from collections.abc import Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

ARRIVAL: Final = ("offset", "row")
"""Columns that sort changes of a key by arrival: a key's changes are all in one partition."""


def latest_by_key(changes: DataFrame, ties: Sequence[str] = ()) -> DataFrame:
    """Return one row per (table, key): the change with the greatest `order`; columns as in
    `changes`.

    The order key is unique within an instance, so equal orders are one change that was read twice.
    Orders that are not unique (those of `raw_rule`) need `ties`: among equal orders, the change
    with the greatest values of these columns wins.
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

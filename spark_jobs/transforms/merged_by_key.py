"""Applies the order rule to messages that contain parts of rows: for each column, the value of the
newest change that contains the column wins.
"""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, Window

from relay.envelope import MessageType

_CELLS: Final = "map<string,struct<value: string, order: string>>"


def merged_by_key(changes: DataFrame) -> DataFrame:
    """Return one row per (table, key) as `latest_by_key` does, with `data` merged from all changes
    of the key.

    The result has two more columns. `reset_order` is the order of the newest INSERT or DELETE; null
    without such a change. Column values with a smaller order are invalid. `column_orders` maps each
    column, in lower case, to the order of its value. The value of a column that is not in the map
    is unknown, not null.
    """
    whole = Window.partitionBy("table", "key")
    reset = sf.max(sf.when(sf.col("type") != str(MessageType.UPDATE), sf.col("order"))).over(whole)
    counted = changes.withColumn("reset_order", reset).where(
        sf.col("reset_order").isNull() | (sf.col("order") >= sf.col("reset_order"))
    )
    others = [name for name in counted.columns if name not in ("table", "key", "data")]
    cells = sf.transform_values(
        "data", lambda _, value: sf.struct(value.alias("value"), sf.col("order").alias("order"))
    )
    grouped = counted.withColumn("cells", cells).groupBy("table", "key")
    merged = grouped.agg(
        sf.max_by(sf.struct(*others), sf.col("order")).alias("newest"),
        sf.array_sort(sf.collect_list(sf.struct("order", "cells")), _by_order).alias("steps"),
    ).select("table", "key", "newest.*", _all_cells(sf.col("steps")).alias("cells"))
    data = sf.transform_values("cells", lambda _, cell: cell["value"])
    orders = sf.transform_keys(
        sf.transform_values("cells", lambda _, cell: cell["order"]), lambda name, _: sf.lower(name)
    )
    return merged.withColumns({"data": data, "column_orders": orders}).select(
        *changes.columns, "reset_order", "column_orders"
    )


def _by_order(one: Column, other: Column) -> Column:
    return (
        sf.when(one["order"] < other["order"], -1)
        .when(one["order"] > other["order"], 1)
        .otherwise(0)
    )


def _all_cells(steps: Column) -> Column:
    """Return the cells of all steps; a later step replaces cells of an earlier one."""
    nothing = sf.create_map().cast(_CELLS)

    def add(known: Column, step: Column) -> Column:
        return sf.map_concat(
            sf.map_filter(known, lambda name, _: ~sf.map_contains_key(step["cells"], name)),
            step["cells"],
        )

    return sf.aggregate(steps, nothing, add)

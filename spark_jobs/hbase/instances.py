"""Finds evidence that several instances publish a table whose copy compares positions alone (ADR
94).

Messages name their instance with `message.headers = "full"`. Otherwise the orders show it: within
one instance a later execute time never has a lower execute position.
"""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Window

UNNAMED: Final = ""
"""Stands for the instance of changes whose messages do not name their instance."""
_POINT: Final = "table string, execute_time bigint, execute_position bigint"


def mixed_orders(changes: DataFrame, newest: Mapping[str, str]) -> Mapping[str, tuple[int, int]]:
    """Return the tables whose orders prove that several instances publish them.

    changes  columns table, execute_time (ms), execute_position
    newest   the tables to check → greatest order of earlier batches as text; "" if there is none

    The result maps a table to an execute position and a greater one that has an earlier execute
    time.
    """
    earlier = Window.partitionBy("table").orderBy("execute_time")
    before = sf.max("high").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
    by_time = (
        _with_points(changes.where(sf.col("table").isin(list(newest))), newest)
        .groupBy("table", "execute_time")
        .agg(sf.min("execute_position").alias("low"), sf.max("execute_position").alias("high"))
        .withColumn("before", before)
    )
    contrary = by_time.where(sf.col("low") < sf.col("before"))
    one = sf.min(sf.struct("low", "before")).alias("found")
    rows = contrary.groupBy("table").agg(one).collect()
    return {row["table"]: (row["found"]["low"], row["found"]["before"]) for row in rows}


def contradiction(mixed: Mapping[str, tuple[int, int]]) -> str:
    """Return a sentence that describes the first table in the result of `mixed_orders`, which must
    not be empty.
    """
    table, (low, before) = min(mixed.items())
    others = f" ({len(mixed)} tables in all)" if len(mixed) > 1 else ""
    return (
        f"{table} has a change with the execute position {low} after one with "
        f"{before}{others}. Positions decrease only between instances, or after a lost "
        "position record, and this copy compares only positions (hbase.guard = 'version')."
    )


def _with_points(changes: DataFrame, newest: Mapping[str, str]) -> DataFrame:
    """The changes, and the newest change of former batches of each table."""
    rows = changes.select("table", "execute_time", "execute_position")
    points = [
        (table, int(order.partition(".")[0]), int(order.partition(".")[2]))
        for table, order in newest.items()
        if order
    ]
    if not points:
        return rows
    return rows.unionByName(changes.sparkSession.createDataFrame(points, _POINT).coalesce(1))

"""Copies of tables whose messages contain only parts of rows: MERGE column by column, with an order
key for each column.
"""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as sf
from delta.tables import DeltaMergeBuilder, DeltaTable
from pyspark.sql import Column, DataFrame

from spark_jobs.sinks.delta_lake.sink import DeltaSink, merging
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms import (
    COLUMN_ORDERS,
    KEY,
    ORDER,
    RESET_ORDER,
    UNFIT,
    WHOLE_ROW_GUARDS,
    own_columns,
)

_OF_THE_NEWEST: Final = tuple(name for name in WHOLE_ROW_GUARDS if name not in (KEY, UNFIT))


class DeltaByColumn(DeltaSink):
    """Delta copies with an order key for each column. The guards `_column_orders` (column → order
    key) and `_reset_order` (order key of the row's newest INSERT or DELETE) store them.

    A value replaces the copy's value if its order key is not smaller than that of the column, and
    not smaller than that of the newest INSERT or DELETE of the row. So the result does not depend
    on the order of arrival.
    """

    _newest_whole = False

    def _statement(self, copy: DeltaTable, rows: DataFrame) -> DeltaMergeBuilder:
        merge = merging(copy, rows, f"copy.{KEY} = change.{KEY}")
        return merge.whenMatchedUpdate(
            set=_merged(list(own_columns(rows)))
        ).whenNotMatchedInsertAll()


def _merged(columns: list[str]) -> dict[str, str | Column]:
    """Return guard or column → its merged value."""
    news = sf.col(f"change.{ORDER}") >= sf.col(f"copy.{ORDER}")
    later = {
        name: sf.when(news, sf.col(f"change.{name}")).otherwise(sf.col(f"copy.{name}"))
        for name in _OF_THE_NEWEST
    }
    sides = {
        name: (_counting("copy", "change", name), _counting("change", "copy", name))
        for name in columns
    }
    orders = {name: sf.greatest(*pair) for name, pair in sides.items()}
    values = {
        name: _chosen(
            sf.col(f"copy.{quoted(name)}"), sf.col(f"change.{quoted(name)}"), *sides[name]
        )
        for name in columns
    }
    lost = {
        name: _chosen(sf.col(f"copy.{UNFIT}")[name], sf.col(f"change.{UNFIT}")[name], *sides[name])
        for name in columns
    }
    unfit = _map(lost)
    return {
        **later,
        RESET_ORDER: sf.greatest(f"copy.{RESET_ORDER}", f"change.{RESET_ORDER}"),
        COLUMN_ORDERS: _map({name.lower(): order for name, order in orders.items()}),
        UNFIT: sf.when(sf.size(unfit) > 0, unfit),
        **{quoted(name): value for name, value in values.items()},
    }


def _counting(side: str, other: str, column: str) -> Column:
    """Return the order of the column's value on one side.

    Null if it has none, or the other side has a newer INSERT or DELETE.
    """
    order, reset = (
        sf.col(f"{side}.{COLUMN_ORDERS}")[column.lower()],
        sf.col(f"{other}.{RESET_ORDER}"),
    )
    return sf.when(reset.isNull() | (order >= reset), order)


def _chosen(copy: Column, change: Column, copy_order: Column, change_order: Column) -> Column:
    newer = change_order.isNotNull() & (copy_order.isNull() | (change_order >= copy_order))
    return sf.when(newer, change).when(copy_order.isNotNull(), copy)


def _map(entries: Mapping[str, Column]) -> Column:
    names, values = sf.array(*map(sf.lit, entries)), sf.array(*entries.values())
    return sf.map_filter(sf.map_from_arrays(names, values), lambda _, value: value.isNotNull())

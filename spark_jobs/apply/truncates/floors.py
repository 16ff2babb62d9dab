"""Stores the floor of each real table: the order key of its newest TRUNCATE.

The floors are in a Delta table below the job's root, whatever the kind of the copies.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession

from spark_jobs.sinks.local_lock import alone

Place: TypeAlias = tuple[str, str]
"""Logical table, and real table as `instance/database.table`."""
Floors: TypeAlias = Mapping[Place, str]
"""Logical and real table → the order of the newest TRUNCATE."""
_BESIDE_SOURCE: Final = 2
"""Slashes in a real table of a source of a group."""
_FOLDER: Final = "_truncates"
_SCHEMA: Final = "table string, real_table string, order string"


class FloorStore:
    """Stores the floors of all copies below one root. A floor never decreases."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FOLDER}"

    def read(self) -> Floors:
        """Return the stored floors."""
        if not DeltaTable.isDeltaTable(self._spark, self._path):
            return {}
        kept = self._spark.read.format("delta").load(self._path).collect()
        return {(row["table"], row["real_table"]): row["order"] for row in kept}

    def raise_to(self, floors: Floors) -> None:
        """Store these floors if they are greater than the stored ones."""
        with alone(self._spark, self._path):
            if DeltaTable.isDeltaTable(self._spark, self._path):
                self._merge(floors_frame(self._spark, floors))
            else:
                floors_frame(self._spark, floors).write.format("delta").mode("errorifexists").save(
                    self._path
                )

    def _merge(self, news: DataFrame) -> None:
        kept = DeltaTable.forPath(self._spark, self._path).alias("kept")
        same = "kept.table = news.table AND kept.real_table = news.real_table"
        merge = kept.merge(news.alias("news"), same).whenMatchedUpdateAll("news.order > kept.order")
        merge.whenNotMatchedInsertAll().execute()


def floors_frame(spark: SparkSession, floors: Floors) -> DataFrame:
    """Return floors as a DataFrame with the columns table (logical), real_table and order (the
    floor).
    """
    return spark.createDataFrame(
        [(*place, order) for place, order in sorted(floors.items())], _SCHEMA
    ).coalesce(1)


def raised(floors: Floors, news: Floors) -> Floors:
    """Return the floors of both mappings. If both have a floor for a real table, the greater one is
    returned.
    """
    return {**floors, **{place: max(order, floors.get(place, "")) for place, order in news.items()}}


def floors_above(floors: Floors, oldest_orders: Mapping[str, str]) -> Floors:
    """Return those floors that can affect a change of the batch.

    floors         (logical, real table) → order key of its newest TRUNCATE
    oldest_orders  logical table → smallest order key of its changes in the batch; a floor that is
                   not greater affects none of them
    """
    return {
        place: order
        for place, order in floors.items()
        if place[0] in oldest_orders and order > oldest_orders[place[0]]
    }


def family_of(real_table: Column) -> Column:
    """Return `instance/database.table` for a real table's name, without the source of a group."""
    return sf.concat(
        sf.substring_index(real_table, "/", 1), sf.lit("/"), sf.substring_index(real_table, "/", -1)
    )


def names_source(real_table: Column) -> Column:
    """Return a condition that is true if a real table's name contains the source of a group.

    If an instance becomes a group, or is no longer one, the name of the same real table changes.
    Rows under both names may then belong to the table.
    """
    return (
        sf.length(real_table) - sf.length(sf.replace(real_table, sf.lit("/"), sf.lit("")))
        >= _BESIDE_SOURCE
    )

"""Gives changes that were made before a rename the new column names of their real table."""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from spark_jobs.apply.renames.names import spans
from spark_jobs.apply.renames.store import Renames

_KNOWN: Final = (
    "of_table string, of_real_table string, low string, high string, names map<string,string>"
)
_TYPES: Final = "map<string,string>"


def renamed_changes(changes: DataFrame, renames: Renames) -> DataFrame:
    """Return the changes with the newest names in the columns data, mysql_types, key_columns and
    moved_from.

    changes  the result of `parse_events`
    renames  (logical, real table) → its renames, sorted by order key
    """
    rows = [(*place, *span) for place, each in sorted(renames.items()) for span in spans(each)]
    known = changes.sparkSession.createDataFrame(rows, _KNOWN).coalesce(1)
    own = (sf.col("table") == sf.col("of_table")) & (
        sf.col("real_table") == sf.col("of_real_table")
    )
    met = changes.join(
        sf.broadcast(known),
        own & (sf.col("order") >= sf.col("low")) & (sf.col("order") < sf.col("high")),
        "left",
    )
    moved = sf.struct(
        sf.col("moved_from.key").alias("key"), _renamed(sf.col("moved_from.data")).alias("data")
    )
    types = sf.to_json(_renamed(sf.from_json("mysql_types", _TYPES)))
    columns = {
        "data": _renamed(sf.col("data")),
        "mysql_types": sf.when(sf.col("mysql_types").isNotNull(), types),
        "key_columns": sf.transform("key_columns", lambda name: sf.coalesce(_new(name), name)),
        "moved_from": sf.when(sf.col("moved_from").isNotNull(), moved),
    }
    older = sf.col("names").isNotNull()
    return met.withColumns(
        {name: sf.when(older, new).otherwise(sf.col(name)) for name, new in columns.items()}
    ).select(*changes.columns)


def _renamed(values: Column) -> Column:
    """A map by column under the new names, without columns whose name another one has since."""
    kept = sf.map_filter(
        values,
        lambda name, _: ~sf.map_contains_key("names", sf.lower(name)) | _new(name).isNotNull(),
    )
    return sf.transform_keys(kept, lambda name, _: sf.coalesce(_new(name), name))


def _new(name: Column) -> Column:
    return sf.try_element_at(sf.col("names"), sf.lower(name))

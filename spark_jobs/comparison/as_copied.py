"""Converts rows of a source to the rows that their copy should have: filtered and masked by the
instance's rules, and typed.

The server cannot apply these rules. Rows of such tables are therefore read, and Spark computes the
checksums of both sides with the same functions.
"""

from collections.abc import Mapping

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from spark_jobs.apply.table_writer import schema_versions
from spark_jobs.origin import KeyRange, Shard, SourceDatabase, message_rows
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.transforms import column_types, own_columns
from spark_jobs.transforms.typed_rows import typed_rows

Columns = Mapping[str, DataType]
"""Column of a copy → its type, without the guards."""


def columns_of(table: LogicalTable, copy: DataFrame | None) -> Columns:
    """Return the columns of the source for the comparison, with the types of the copy.

    A column that the copy lacks has its own type. Columns that the source dropped are ignored;
    columns of the copy that are not published are compared. `copy` None: there is no copy.
    """
    kinds, held = column_types(schema_versions(table)), {} if copy is None else own_columns(copy)
    known = {each.name.lower() for each in (*table.columns, *table.unpublished)}
    there = {name.lower() for name in held} | table.ignored
    lacking = {name: kind for name, kind in kinds.items() if name.lower() not in there}
    return {**{name: kind for name, kind in held.items() if name.lower() in known}, **lacking}


def as_copied(table: LogicalTable, rows: DataFrame, columns: Columns) -> DataFrame:
    """Return rows in the form in which a copy with these columns stores them. `_order` is a
    fingerprint of the row.

    `rows` has the columns table, key, data and mysql_types.
    """
    changes = rows.withColumns(
        {
            "order": sf.sha2(sf.to_json("data"), 256),
            "deleted": sf.lit(False),
            "execute_time": sf.lit(0),
            "execute_position": sf.lit(0),
        }
    )
    return typed_rows(changes, schema_versions(table), columns)


def range_as_copied(
    database: SourceDatabase, table: LogicalTable, shard: Shard, part: KeyRange, columns: Columns
) -> DataFrame:
    """Return all published rows of a key range, in the form of `as_copied`."""
    return as_copied(table, message_rows(database, shard, part.where(shard.key)), columns)

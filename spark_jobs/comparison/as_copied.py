"""Converts rows of a source to the rows that their copy should have: filtered and masked by the
instance's rules, and typed.

The source server cannot apply these rules. For a table with rules, the job therefore reads the
rows, and Spark computes the checksums of both sides with the same functions.
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
    """Return the columns to compare, each with its type in the copy.

    Columns that only the copy has, because the source dropped them, are omitted. Columns that the
    source has but does not publish are included if the copy has them. A published column that the
    copy lacks gets the type that a new copy would give it, unless the configuration says that
    copies ignore added columns; then it is omitted. `copy` None: there is no copy, so every column
    gets this type.
    """
    kinds, held = column_types(schema_versions(table)), {} if copy is None else own_columns(copy)
    known = {each.name.lower() for each in (*table.columns, *table.unpublished)}
    there = {name.lower() for name in held} | table.ignored
    lacking = {name: kind for name, kind in kinds.items() if name.lower() not in there}
    return {**{name: kind for name, kind in held.items() if name.lower() in known}, **lacking}


def as_copied(table: LogicalTable, rows: DataFrame, columns: Columns) -> DataFrame:
    """Return rows of a source in the form in which a copy stores them.

    table    the logical table of the rows
    rows     the rows, with the columns table, key (message key), data and mysql_types
    columns  the columns of the copy

    In the result, `_order` is a hash of the row's data and no order key, because a row that was
    read by SELECT has none.
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
    """Return all published rows of a key range, in the form of `as_copied`.

    database  the source
    table     the logical table
    shard     the real table that is read
    part      the key range
    columns   the columns of the copy
    """
    return as_copied(table, message_rows(database, shard, part.where(shard.key)), columns)

"""Rows of a source as their copy would have them: read, processed by the rules and masks of the
instance, and typed. A server cannot compute checksums of the rules' results. So rows of such
tables are read, and the same functions compute the checksums of both sides.
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
"""The columns of a copy by name, without its guards."""


def columns_of(table: LogicalTable, copy: DataFrame | None) -> Columns:
    """Return the columns for the comparison: the source's, in the copy's types, or in their own if
    the copy lacks them.

    Columns of the copy that the source dropped are ignored; columns of the copy that are not
    published are compared.
    """
    kinds, held = column_types(schema_versions(table)), {} if copy is None else own_columns(copy)
    known = {each.name.lower() for each in (*table.columns, *table.unpublished)}
    there = {name.lower() for name in held} | table.ignored
    lacking = {name: kind for name, kind in kinds.items() if name.lower() not in there}
    return {**{name: kind for name, kind in held.items() if name.lower() in known}, **lacking}


def as_copied(table: LogicalTable, rows: DataFrame, columns: Columns) -> DataFrame:
    """Return rows (`table, key, data, mysql_types`) as a copy with these columns has them.

    `_order` is a fingerprint of the row.
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
    """Return all published rows of a range as a copy with these columns has them."""
    return as_copied(table, message_rows(database, shard, part.where(shard.key)), columns)

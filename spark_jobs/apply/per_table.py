"""Splits the newest changes of a batch by table and gives them typed columns, for a sink."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.sinks.sink import ReducedBatch, TableBatch
from spark_jobs.transforms import Style, TableSchema, column_types

REDUCED: Final = (
    "table",
    "key",
    "order",
    "execute_time",
    "execute_position",
    "deleted",
    "data",
    "mysql_types",
)
"""The columns of a change that a sink receives: only these are shuffled by key."""


@dataclass(frozen=True, slots=True)
class TableContents:
    """The contents of a batch for one table.

    versions      definitions of the table, the newest last; if all changes are tombstones, one
                  definition without columns
    key_columns   names of the key's columns; empty if no message of the batch contains the key
    newest_order  greatest order key among the changes that have a definition; "": none has one
    changes       number of changes before the batch was reduced to one for each key; None: unknown
    instances     names of the instances that published the changes, as in `TableBatch`
    """

    versions: Sequence[TableSchema]
    key_columns: Sequence[str] = ()
    newest_order: str = ""
    changes: int | None = None
    instances: frozenset[str] = frozenset()


def reduced_batch(
    changes: DataFrame,
    contents: Mapping[str, TableContents],
    writer: str,
    number: int | None,
    style: Style = "exact",
    *,
    again: bool = True,
) -> ReducedBatch:
    """Return the batch in the form that a sink reads.

    changes   at most one change for each table and key, cached. Columns: table, key, order (text of
              the order key, 33 characters, which sorts like it), execute_time (ms),
              execute_position, deleted, data (map: column → exact text), mysql_types (JSON text:
              column → type, as a message has it)
    contents  table → the contents of the batch for it
    writer    name of the job
    number    number of the batch; None: it has none
    style     how the texts show bytes
    again     True: the copies may have this batch under its number. False: what they have under it
              is another batch
    """
    tables = tuple(
        TableBatch(
            table=table,
            changes=changes.where(sf.col("table") == table),
            versions=held.versions,
            columns=column_types(held.versions),
            key_columns=held.key_columns,
            newest_order=held.newest_order,
            number=held.changes,
            style=style,
            instances=held.instances,
        )
        for table, held in sorted(contents.items())
    )
    return ReducedBatch(writer, number, changes, tables, again)

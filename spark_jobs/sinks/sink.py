"""The interface of sinks: their input, and what they guarantee.

The jobs use Delta, HBase and the other stores only through it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from spark_jobs.transforms import Style, TableSchema, typed_rows


@dataclass(frozen=True, slots=True)
class TableBatch:
    """The newest change of each key of one logical table within one micro-batch.

    table         logical table
    changes       the changes in the exact text of the messages; columns as in
                  `ReducedBatch.changes`
    versions      definitions of the table in these changes, the newest last
    columns       every column of these definitions → a type that can hold all its values
    key_columns   names of the key's columns in the order of the key; empty if the messages do not
                  contain the key
    newest_order  greatest order key among the changes that have a definition; "": none has one
    style         how the texts show bytes
    number        approximate number of changes; None: unknown
    instances     names of the instances that published the changes. "" stands for changes whose
                  messages do not name their instance. Empty: the sink does not need the instances
    """

    table: str
    changes: DataFrame
    versions: Sequence[TableSchema]
    columns: Mapping[str, DataType]
    key_columns: Sequence[str]
    newest_order: str
    style: Style = "exact"
    number: int | None = None
    instances: frozenset[str] = frozenset()

    @property
    def rows(self) -> DataFrame:
        """The changes as typed rows, one for each key.

        Columns: the guards `_key` (the message key, a JSON array of table and key values), `_order`
        (text of the order key, which sorts like it), `_execute_time` (ms), `_execute_position`,
        `_deleted` and `_unfit`, then `columns`. A column that the change does not contain is null.
        `_unfit` maps columns to the exact text of values that the column's type cannot represent,
        such as MySQL's 0000-00-00, which is no date of Spark's; null: there is no such value.
        """
        return self.rows_as(self.columns)

    def rows_as(self, columns: Mapping[str, DataType]) -> DataFrame:
        """Return the changes as typed rows with the given columns (name → type).

        Each type must hold all values of the column's type in `self.columns`.
        """
        return typed_rows(self.changes, self.versions, columns, self.style)


def _uncounted(_rows: int) -> None:
    """Ignore the count."""


@dataclass(frozen=True, slots=True)
class ReducedBatch:
    """A micro-batch that was reduced to the newest change of each table and key.

    `changes` and `tables` are read from a cache that the caller keeps during the call.

    writer, number  name of the job and number of the batch. A batch that is repeated after a crash
                    has the same name, number and changes. `number` None: the batch has no number,
                    so a repeated batch is not recognised
    changes         the changes of all tables, for stores that write them in one pass. Columns in
                    the exact text of the messages: table, key, order (text of the order key),
                    execute_time, execute_position, deleted, data (map column → text; missing or
                    null value: null), mysql_types (JSON text)
    tables          the same changes table by table, typed
    again           True: the copies may have this batch under its name and number. False: what they
                    have under this number is another batch, because the stream's checkpoint was
                    reset to an older state since then
    done            sinks that write table by table call it with the approximate number of changes
                    that they have written
    """

    writer: str
    number: int | None
    changes: DataFrame
    tables: Sequence[TableBatch]
    again: bool = True
    done: Callable[[int], None] = _uncounted


@dataclass(frozen=True, slots=True)
class Written:
    """The counts for one table's changes.

    winners   number of changes that were written, because the copy has no newer row
    replayed  True: the copy already had the batch, so nothing was written
    """

    winners: int = 0
    replayed: bool = False


class Sink(Protocol):
    """A store with one copy for each logical table.

    The methods raise specific JobErrors for known causes; the job translates all other errors of
    the store's library.
    """

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Apply the changes of a batch to the copies; return a mapping from each table of the batch
        to its counts.

        A change is applied if the copy has no row of the key, or a row whose order key is smaller
        or equal; otherwise it is discarded. A delete keeps the key with its order key, so that an
        older change that arrives later cannot restore the row. When the method returns, all changes
        are durable. When it raises an error, any part of them may be applied. The same batch again,
        or batches in another sequence, give the same copy.
        """
        ...

    def read(self, table: str) -> DataFrame | None:
        """Return the copy of a table with its guards, deleted keys included, in the form of
        `TableBatch.rows`; None if there is no copy.
        """
        ...

    def tables(self) -> Sequence[str]:
        """Return the logical tables that have a copy, sorted."""
        ...

    def forget_deletes(self, before_ms: int, writer: str, /) -> None:
        """Remove the keys that were deleted with an execute time below `before_ms`.

        `writer` is the name of the job, as in its batches. The caller must not write older changes
        afterwards.
        """
        ...

    def tidy(self) -> None:
        """Compact the store. The job calls it between batches at intervals; a crash during it does
        no harm.
        """
        ...

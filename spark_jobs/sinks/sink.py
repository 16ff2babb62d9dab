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
    changes       the changes in the exact text of the messages, as in `ReducedBatch.changes`
    versions      definitions of the table in these changes, the newest last
    columns       all columns of these definitions → a type that can hold every value
    key_columns   names of the key's columns in the order of the key; empty if the messages do not
                  contain the key
    newest_order  greatest order among the changes that have a definition
    style         how the texts show bytes
    number        approximate number of changes; None: unknown
    instances     the instances that published the changes, "" for changes whose messages do not
                  name their instance; empty if the sink does not need the instances
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
        (text that sorts), `_execute_time` (ms), `_execute_position`, `_deleted`, `_unfit`, then
        `columns`. A column that the change does not contain is null. `_unfit` is null, or has by
        column the exact text of the values that the column's type cannot represent (MySQL's
        0000-00-00 is no date of Spark's).
        """
        return self.rows_as(self.columns)

    def rows_as(self, columns: Mapping[str, DataType]) -> DataFrame:
        """Return the changes as typed rows with these columns, whose types must be as wide or
        wider.
        """
        return typed_rows(self.changes, self.versions, columns, self.style)


def _uncounted(_rows: int) -> None:
    """Ignore the count."""


@dataclass(frozen=True, slots=True)
class ReducedBatch:
    """A micro-batch that was reduced to the newest change of each table and key.

    `changes` and `tables` are read from a cache that the caller keeps during the call.

    writer, number  name of the job and number of the batch. A batch that is repeated after a crash
                    has the same name, number and changes. `number` None: it is never repeated
    changes         the changes of all tables, for stores that write them in one pass. Columns in
                    the exact text of the messages: table, key, order, execute_time,
                    execute_position, deleted, data (map column → text; missing or null value:
                    null), mysql_types (JSON text)
    tables          the same changes table by table, typed
    again           whether the copies may already have this batch under its name and number. False:
                    what they have under this number is another batch, because the stream's
                    checkpoint was reset to an older state since then
    done            called with the approximate number of written changes by sinks that write table
                    by table
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

    winners   number of rows that were written
    replayed  whether the batch had been applied before, so that nothing was done
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

        A change is applied if the copy has no row of the key, or one whose order is smaller or
        equal; otherwise it is discarded. A delete keeps the key with its order, so that an older
        change that arrives later cannot restore the row. When it returns, all changes are durable;
        when it raises, any part may be. The same batch again, or batches in another order, give the
        same copy.
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

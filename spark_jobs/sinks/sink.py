"""The interface of sinks: input and guarantees.

The jobs use Delta, HBase and the others only through it.
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

    `changes` has them in the exact text of the messages, as in `ReducedBatch.changes`. `versions`
    are the versions of the table among them, the newest last; `columns` all their columns, with
    types that hold every value; `key_columns` the names of the key's columns in the order of the
    key, empty if the messages do not contain it. `newest_order` is the greatest order among those
    with a version. `style` says how the text shows bytes. `number` is their approximate number,
    None if unknown. `instances` are the names of the instances that published the changes, "" for
    changes whose messages do not name theirs; empty if the sink does not need them.
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
        """One row per key, typed.

        The guards `_key` (the message key, a JSON array of table and key values), `_order` (text
        that sorts), `_execute_time` (ms), `_execute_position`, `_deleted`, `_unfit`, then
        `columns`. A column that the change does not hold is null. `_unfit` is null, or holds the
        exact text of the values that their column's type cannot hold (MySQL's 0000-00-00 is no date
        of Spark's), by column.
        """
        return self.rows_as(self.columns)

    def rows_as(self, columns: Mapping[str, DataType]) -> DataFrame:
        """Return the changes with these columns, whose types are as wide or wider."""
        return typed_rows(self.changes, self.versions, columns, self.style)


def _uncounted(_rows: int) -> None:
    """Ignore the count."""


@dataclass(frozen=True, slots=True)
class ReducedBatch:
    """A micro-batch after the rule: at most one change per table and key.

    `changes` holds all tables at once for places that write them in one pass, in the exact text of
    the messages: `table`, `key`, `order`, `execute_time`, `execute_position`, `deleted`, `data`
    (map column → text; missing or null value: null), `mysql_types` (JSON text). `tables` holds the
    same table by table, typed. Both are read from a cache that the caller holds for as long as the
    call lasts. `writer` and `number` name the batch: the same pair may come again after a crash,
    with the same changes (number None: never). `again`: whether it may be one that came before.
    Where it is not, a copy that has the number has other changes under it, of a stream whose
    checkpoint went back since. A sink that writes table by table calls `done` with about how many
    changes of the batch are written.
    """

    writer: str
    number: int | None
    changes: DataFrame
    tables: Sequence[TableBatch]
    again: bool = True
    done: Callable[[int], None] = _uncounted


@dataclass(frozen=True, slots=True)
class Written:
    """The result for one table's changes.

    `winners`: rows that were written. `replayed`: the batch was already applied, nothing was done.
    """

    winners: int = 0
    replayed: bool = False


class Sink(Protocol):
    """A store with one copy per logical table.

    Raises specific JobErrors for known causes; the job translates all other errors of its library.
    """

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Apply the changes; return table → counts, for every table of the batch.

        A change is applied where the copy has no row of the key, or one whose order is smaller or
        equal; otherwise it is discarded. A delete leaves the key with its order, so that a late
        older change cannot bring the row back. When it returns, all is durable; when it raises, any
        part may be. The same batch again, or batches in another order, end in the same copy.
        """
        ...

    def read(self, table: str) -> DataFrame | None:
        """Return the copy with its guards, deleted keys included, in the shape of
        `TableBatch.rows`; None if there is none.
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
        """Compact the store; called between batches on a schedule.

        A crash during it does no harm.
        """
        ...

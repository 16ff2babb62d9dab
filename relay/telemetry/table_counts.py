"""Counts rows, transactions and bytes by logical table and operation, for a bounded number of
tables.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from relay.model.table import TableId

OTHER: Final = TableId("(other)", "(other)")
"""The name under which all tables without separate counts are counted together."""
COPIED: Final = "COPY"
"""The operation of rows that a snapshot read. The other operations are those of
`relay.model.change`.
"""

TableOperation: TypeAlias = tuple[TableId, str]


class TableCount(NamedTuple):
    """The published rows of one logical table with one operation.

    `size_bytes` are bytes of message values.
    """

    rows: int = 0
    transactions: int = 0
    size_bytes: int = 0

    def plus(self, other: "TableCount") -> "TableCount":
        """Return the sum of both counts."""
        return TableCount(
            self.rows + other.rows,
            self.transactions + other.transactions,
            self.size_bytes + other.size_bytes,
        )


Counted: TypeAlias = tuple[TableId, str, TableCount]


class OpenTableCounts:
    """Counts of the open batch; used by one thread.

    A source transaction counts once for each table and operation. If it is published in several
    batches, it counts in the first batch that has such a row.
    """

    def __init__(self) -> None:
        self._counts: dict[TableOperation, TableCount] = {}
        self._met: set[TableOperation] = set()

    def begin_transaction(self) -> None:
        """Count the next rows as those of another source transaction."""
        self._met.clear()

    def count(self, table: TableId, operation: str, rows: int, size_bytes: int) -> None:
        """Count rows of the open source transaction."""
        by, met = (table, operation), self._met
        self.add(((table, operation, TableCount(rows, by not in met, size_bytes)),))
        met.add(by)

    def add(self, counted: Iterable[Counted]) -> None:
        """Add counts of whole source transactions."""
        counts = self._counts
        for table, operation, count in counted:
            by = table, operation
            before = counts.get(by)
            counts[by] = count if before is None else before.plus(count)

    def taken(self) -> dict[TableOperation, TableCount]:
        """Return the counts since the last call, and reset them."""
        counts, self._counts = self._counts, {}
        return counts


class TableBudget:
    """Limits the number of logical tables that a process counts separately. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Reserve the right to count one more table separately; return False if the limit is
        reached.
        """
        with self._lock:
            taken = self._left > 0
            self._left -= taken
            return taken

    def give_back(self, number: int) -> None:
        """Release the reservations of this many tables."""
        with self._lock:
            self._left += number


MOST_OF_PROCESS: Final = 5_000
"""Logical tables of all instances of a process with separate metrics, each of up to 12 series."""
PROCESS_BUDGET: Final = TableBudget(MOST_OF_PROCESS)


@dataclass(slots=True)
class TableTotals:
    """Counts of the first `most` logical tables that are published, and of all others together.

    The publishing thread writes them, and another thread may read them meanwhile. `budget` limits
    the tables of all instances together.
    """

    most: int
    budget: TableBudget = PROCESS_BUDGET
    _names: set[TableId] = field(default_factory=set)
    _counts: dict[TableOperation, TableCount] = field(default_factory=dict)

    def add(self, counts: Mapping[TableOperation, TableCount]) -> None:
        """Add the counts of a committed batch."""
        for (table, operation), count in counts.items():
            by = self._named(table), operation
            self._counts[by] = self._counts.get(by, TableCount()).plus(count)

    def followed_by_none(self) -> "TableTotals":
        """Return empty totals that replace these, and release the budget's reservations for the
        tables in these.
        """
        self.budget.give_back(len(self._names))
        return TableTotals(self.most, self.budget)

    def each(self) -> list[tuple[TableOperation, TableCount]]:
        """Return the present counts by table."""
        return list(self._counts.items())

    def _named(self, table: TableId) -> TableId:
        if table not in self._names:
            if len(self._names) >= self.most or not self.budget.take():
                return OTHER
            self._names.add(table)
        return table

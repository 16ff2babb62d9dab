"""Finds the published table that an unmapped table resembles, by the names of their columns. Pure.

The admin shows the result as a hint that a mapping may be missing.
"""

from typing import Final, NamedTuple

from relay.model.table import TableId, TableMap

FEWEST_COLUMNS: Final = 3
"""Tables with fewer columns are not compared, because many tables have an id and a name."""
NEARLY_ALL: Final = 0.8
"""Least share of common columns among all columns of two similar tables."""
MOST_TABLES: Final = 2000
"""Largest number of published tables, and of unmapped tables, that are compared."""


class LikeTable(NamedTuple):
    """A published table with the same or nearly the same columns.

    name    `database.table` that its messages have; empty: no table is similar
    common  number of columns that both have
    all     number of columns that at least one of them has
    """

    name: str = ""
    common: int = 0
    all: int = 0

    @property
    def share(self) -> float:
        """Return the common columns as a share of all, 0 to 1."""
        return self.common / self.all if self.all else 0.0


NOTHING_ALIKE: Final = LikeTable()


class _Compared(NamedTuple):
    table: TableMap
    columns: frozenset[str]


class ColumnLikeness:
    """Compares tables when their first rows are read, and again when their columns have changed.

    If several published tables have one name in messages, only the first is compared. Names of
    columns are compared case-insensitively, as the source does. A table with unknown column names,
    or with fewer than FEWEST_COLUMNS columns, is similar to none.

    One thread writes; other threads may call `of`.
    """

    def __init__(self) -> None:
        self._published: dict[TableId, _Compared] = {}
        self._left_out: dict[TableId, _Compared] = {}
        self._found: dict[TableId, LikeTable] = {}

    def publish(self, name: TableId, table: TableMap) -> None:
        """Compare a published table with the unmapped ones. `name` is its name in messages."""
        known = self._published.get(name)
        if known is not None and (known.table is table or known.table.id != table.id):
            return
        if known is None and len(self._published) >= MOST_TABLES:
            return
        now = self._published[name] = _Compared(table, _comparable(table))
        if known is not None and known.columns == now.columns:
            return
        for each, other in self._left_out.items():
            if self.of(each).name == str(name):
                self._compare(each, other)
            else:
                self._take(each, likeness(name, now.columns, other.columns))

    def leave_out(self, table: TableMap) -> None:
        """Compare an unmapped real table with the published ones."""
        known = self._left_out.get(table.id)
        if known is not None and known.table is table:
            return
        if known is None and len(self._left_out) >= MOST_TABLES:
            return
        now = self._left_out[table.id] = _Compared(table, _comparable(table))
        if known is None or known.columns != now.columns:
            self._compare(table.id, now)

    def of(self, table: TableId) -> LikeTable:
        """Return the published table that is most similar to an unmapped one; NOTHING_ALIKE if none
        is.
        """
        return self._found.get(table, NOTHING_ALIKE)

    def clear(self) -> None:
        """Remove all tables, because another mapping set is active."""
        self._published.clear()
        self._left_out.clear()
        self._found.clear()

    def _compare(self, table: TableId, compared: _Compared) -> None:
        self._found.pop(table, None)
        for name, other in self._published.items():
            self._take(table, likeness(name, other.columns, compared.columns))

    def _take(self, table: TableId, found: LikeTable) -> None:
        if found.share > self.of(table).share:
            self._found[table] = found


def likeness(name: TableId, columns: frozenset[str], others: frozenset[str]) -> LikeTable:
    """Return the comparison with table `name`, which has the columns `others`; NOTHING_ALIKE if too
    few are common.
    """
    common, every = len(columns & others), len(columns | others)
    is_alike = common >= FEWEST_COLUMNS and common >= NEARLY_ALL * every
    return LikeTable(str(name), common, every) if is_alike else NOTHING_ALIKE


def _comparable(table: TableMap) -> frozenset[str]:
    names = [each.name.lower() for each in table.columns]
    return frozenset(names) if all(names) and not table.unknown else frozenset()

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
MOST_STEPS: Final = 50_000
"""Largest number of steps of one call: one for each name of a column that is compared, and
_STEPS_PER_PAIR for each pair of tables.
"""
_STEPS_PER_PAIR: Final = 10


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


class _Effort:
    """The steps that one call may still take; `left` is 0 or less if it must end."""

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def likeness(self, name: TableId, columns: frozenset[str], others: frozenset[str]) -> LikeTable:
        """Return table `name` with what it shares with `others`.

        NOTHING_ALIKE if too few columns are common, or if no steps are left.
        """
        if self.left <= 0:
            return NOTHING_ALIKE
        self.left -= _STEPS_PER_PAIR
        smaller, larger = sorted((len(columns), len(others)))
        if smaller < FEWEST_COLUMNS or smaller < NEARLY_ALL * larger:
            return NOTHING_ALIKE
        self.left -= smaller
        common = len(columns & others)
        every = smaller + larger - common
        is_alike = common >= FEWEST_COLUMNS and common >= NEARLY_ALL * every
        return LikeTable(str(name), common, every) if is_alike else NOTHING_ALIKE


class ColumnLikeness:
    """Compares tables when their first rows are read, and again when their columns have changed.

    If several published tables have one name in messages, only the first is compared. Names of
    columns are compared case-insensitively, as the source does. A table with unknown column names,
    or with fewer than FEWEST_COLUMNS columns, is similar to none. A published table with the same
    columns is always found. The search for one with nearly the same columns ends after MOST_STEPS
    steps, because rows wait for it.

    One thread writes; other threads may call `of`.
    """

    def __init__(self) -> None:
        self._published: dict[TableId, _Compared] = {}
        self._left_out: dict[TableId, _Compared] = {}
        self._equal: dict[frozenset[str], dict[TableId, None]] = {}
        self._found: dict[frozenset[str], LikeTable] = {}
        self.steps = 0
        """Number of steps that all calls have taken."""

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
        if known is not None:
            self._equal[known.columns].pop(name)
        self._equal.setdefault(now.columns, {})[name] = None
        effort = _Effort()
        for columns, best in self._found.items():
            if best.name == str(name) or columns == now.columns:
                self._found[columns] = self._best(columns, effort)
            elif best.share < 1:
                self._take(columns, effort.likeness(name, now.columns, columns))
        self.steps += MOST_STEPS - effort.left

    def leave_out(self, table: TableMap) -> None:
        """Compare an unmapped real table with the published ones."""
        known = self._left_out.get(table.id)
        if known is not None and known.table is table:
            return
        if known is None and len(self._left_out) >= MOST_TABLES:
            return
        now = self._left_out[table.id] = _Compared(table, _comparable(table))
        if known is not None and known.columns != now.columns:
            self._forget(known.columns)
        if now.columns not in self._found:
            effort = _Effort()
            self._found[now.columns] = self._best(now.columns, effort)
            self.steps += MOST_STEPS - effort.left

    def of(self, table: TableId) -> LikeTable:
        """Return the published table that is most similar to an unmapped one; NOTHING_ALIKE if none
        is.
        """
        known = self._left_out.get(table)
        return NOTHING_ALIKE if known is None else self._found.get(known.columns, NOTHING_ALIKE)

    def clear(self) -> None:
        """Remove all tables, because another mapping set is active."""
        self._published.clear()
        self._left_out.clear()
        self._equal.clear()
        self._found.clear()

    def _best(self, columns: frozenset[str], effort: _Effort) -> LikeTable:
        """Return the published table that is most similar to one with these columns."""
        if len(columns) < FEWEST_COLUMNS:
            return NOTHING_ALIKE
        for name in self._equal.get(columns, ()):
            return LikeTable(str(name), len(columns), len(columns))
        best = NOTHING_ALIKE
        for name, other in self._published.items():
            if effort.left <= 0:
                break
            found = effort.likeness(name, other.columns, columns)
            best = found if found.share > best.share else best
        return best

    def _take(self, columns: frozenset[str], found: LikeTable) -> None:
        if found.share > self._found[columns].share:
            self._found[columns] = found

    def _forget(self, columns: frozenset[str]) -> None:
        """Drop the result for columns that no unmapped table has any longer."""
        if all(each.columns != columns for each in self._left_out.values()):
            self._found.pop(columns, None)


def _comparable(table: TableMap) -> frozenset[str]:
    names = [each.name.lower() for each in table.columns]
    return frozenset(names) if all(names) and not table.unknown else frozenset()

"""Counts the real tables of each logical table that instances have read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from api.services.mappings.logical.published_tables import Published, Reals
from relay.model.table import TableId

ByDatabase: TypeAlias = Mapping[str, Mapping[str, tuple[str, Reals]]]
"""Real database → instance → the logical database, and the tables that the instance publishes."""


@dataclass(slots=True)
class SeenTables:
    """Counts the real tables of one logical table that instances have read.

    counts    instance → number of these tables that it has read. Logical tables with equal counts
              may share this object
    distinct  number of these tables; a table that several instances read counts once
    is_own    whether no other logical table shares the object `counts`
    """

    counts: dict[str, int] = field(default_factory=dict)
    distinct: int = 0
    is_own: bool = False

    def add(self, counts: dict[str, int]) -> None:
        """Add the counts of further databases: instance → number of tables."""
        if not self.counts:
            self.counts = counts
            return
        if not self.is_own:
            self.counts, self.is_own = dict(self.counts), True
        for instance, count in counts.items():
            self.counts[instance] = self.counts.get(instance, 0) + count


@dataclass(slots=True)
class _Alike:
    """Databases with the same tables of one logical database.

    databases  instance → how many of them it reads
    unshared   how many of them have no other tables for another instance
    """

    logical: str
    reals: Reals
    databases: dict[str, int] = field(default_factory=dict)
    unshared: int = 0


def by_database(published: Mapping[str, Published]) -> ByDatabase:
    """Return the published tables grouped by real database; `published` has them by instance."""
    found: dict[str, dict[str, tuple[str, Reals]]] = defaultdict(dict)
    for instance, databases in published.items():
        for database, reals in databases.items():
            found[database][instance] = reals
    return found


def seen_tables(databases: ByDatabase) -> dict[TableId, SeenTables]:
    """Return for each logical table the real tables that instances have read."""
    found: dict[str, dict[str, SeenTables]] = defaultdict(lambda: defaultdict(SeenTables))
    alike: dict[int, _Alike] = {}
    for theirs in databases.values():
        answers: dict[int, _Alike] = {}
        for instance, (logical, reals) in theirs.items():
            each = answers[id(reals)] = alike.setdefault(id(reals), _Alike(logical, reals))
            each.databases[instance] = each.databases.get(instance, 0) + 1
        if len(answers) == 1:
            next(iter(answers.values())).unshared += 1
        else:
            _add_joined(found, answers.values())
    for each in alike.values():
        _add(found[each.logical], each)
    return {
        TableId(database, table): seen
        for database, tables in found.items()
        for table, seen in tables.items()
    }


def _add(tables: dict[str, SeenTables], alike: _Alike) -> None:
    counts: dict[int, dict[str, int]] = {}
    for table, names in alike.reals.items():
        size = len(names)
        if size not in counts:
            counts[size] = {name: times * size for name, times in alike.databases.items()}
        tables[table].add(counts[size])
        tables[table].distinct += alike.unshared * size


def _add_joined(found: Mapping[str, dict[str, SeenTables]], answers: Iterable[_Alike]) -> None:
    """Count the tables of one database that instances have read differently."""
    joined: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in answers:
        for table, names in each.reals.items():
            joined[each.logical, table].update(names)
    for (logical, table), distinct in joined.items():
        found[logical][table].distinct += len(distinct)

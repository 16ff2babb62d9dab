"""The tables that instances have read, decoded once for each change in ZooKeeper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Final, TypeAlias

from relay.state import InstanceStore

MetTables: TypeAlias = Mapping[str, tuple[str, ...]]
"""Real database → the names of its tables, sorted."""
_NONE: Final[MetTables] = {}


@dataclass(frozen=True, slots=True)
class _Known:
    """The tables of an instance, and the number of the change that wrote them."""

    change: int
    tables: MetTables


class MetTablesReader:
    """Reads the lists of tables that have changed since the last call. Not thread-safe."""

    def __init__(self, notes: InstanceStore) -> None:
        self._notes = notes
        self._known: dict[str, _Known] = {}

    def read(self, instances: Sequence[str]) -> dict[str, MetTables]:
        """Return the tables that each instance has read.

        An unchanged list is returned as the same object as before. Raises StoreUnreachable.
        """
        changes = self._notes.tables_changes(instances)
        stale = [each for each in instances if changes[each] != self._change_of(each)]
        for name, tables in self._notes.tables_of_each(stale).items():
            # A list that is written in between is read again next time: its number is higher.
            number = changes[name]
            if number is None:
                self._known.pop(name, None)
            else:
                self._known[name] = _Known(number, by_database(tables))
        return {
            each: known.tables if (known := self._known.get(each)) else _NONE for each in instances
        }

    def _change_of(self, instance: str) -> int | None:
        known = self._known.get(instance)
        return None if known is None else known.change


def by_database(names: Sequence[str]) -> MetTables:
    """Return the names `database.table` grouped by database. Names without a database are omitted.

    Equal names become one object, because many instances have the same tables.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        database, dot, table = name.partition(".")
        if dot:
            found.setdefault(database, []).append(intern(table))
    return {intern(database): tuple(tables) for database, tables in found.items()}

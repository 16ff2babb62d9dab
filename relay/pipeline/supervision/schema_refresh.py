"""Lists tables whose rows did not fit their description.

Each table is described again, once per position.
"""

from relay.errors import NamesUnknown
from relay.model.table import TableId


class TablesToRefresh:
    """The tables of one instance that must be described again before it continues."""

    def __init__(self) -> None:
        self._tables: set[tuple[str, TableId]] = set()
        self._places: dict[tuple[str, TableId], str] = {}

    def of_source(self, source: str = "") -> frozenset[TableId]:
        """Return the tables of a source that must be described again; a single source
        is named "".
        """
        return frozenset(table for name, table in self._tables if name == source)

    def was_refreshed(self, error: NamesUnknown) -> bool:
        """Return whether the error's table was already described again because of an error at the
        same binlog position.
        """
        return self._places.get((error.source, TableId(*error.table))) == error.place

    def add(self, error: NamesUnknown) -> None:
        """Record that the error's table must be described again."""
        table = error.source, TableId(*error.table)
        self._places[table] = error.place
        self._tables.add(table)

    def refreshed(self) -> None:
        """Record that all listed tables were described again."""
        self._tables.clear()

"""Tables whose rows did not fit what was known of them: each is described anew once for each
place.
"""

from relay.errors import NamesUnknown
from relay.model.table import TableId


class TablesToRefresh:
    """The tables of one instance that are to be described anew before it goes on."""

    def __init__(self) -> None:
        self._tables: set[tuple[str, TableId]] = set()
        self._places: dict[tuple[str, TableId], str] = {}

    def of_source(self, source: str = "") -> frozenset[TableId]:
        """Those of a source; a single one is called ""."""
        return frozenset(table for name, table in self._tables if name == source)

    def was_refreshed(self, error: NamesUnknown) -> bool:
        """Whether the table was described again for these very rows already."""
        return self._places.get((error.source, TableId(*error.table))) == error.place

    def add(self, error: NamesUnknown) -> None:
        """Have the table of the error described again."""
        table = error.source, TableId(*error.table)
        self._places[table] = error.place
        self._tables.add(table)

    def refreshed(self) -> None:
        """Those that there were have been described."""
        self._tables.clear()

"""Tables whose rows did not fit what was known of them: each is described anew once for each place."""

from relay.errors import NamesUnknown, SchemaMismatch
from relay.model.table import TableId


class Doubts:
    """The tables of one instance that are to be described anew before it goes on."""

    def __init__(self) -> None:
        self._tables: set[tuple[str, TableId]] = set()
        self._places: dict[tuple[str, TableId], str] = {}

    def tables_of(self, source: str = "") -> frozenset[TableId]:
        """Those of a source; a single one is called ""."""
        return frozenset(table for name, table in self._tables if name == source)

    def add(self, error: NamesUnknown) -> None:
        """Take note of a table that did not fit. Raises SchemaMismatch where it was described anew for these very rows already."""
        table = error.source, TableId(*error.table)
        if self._places.get(table) == error.place:
            raise SchemaMismatch(f"The rows at {error.place} cannot be named from the source's catalogue either: {error.reason}") from error
        self._places[table] = error.place
        self._tables.add(table)

    def described(self) -> None:
        """Those that there were have been described."""
        self._tables.clear()

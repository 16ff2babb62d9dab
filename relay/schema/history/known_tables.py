"""The descriptions of tables and databases at one position of the binlog."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from relay.model.table import TableId
from relay.schema.history.described import DescribedTable

Known: TypeAlias = DescribedTable | str
"""The description of a table; a text if the description is uncertain, with the reason."""


class KnownTables:
    """The descriptions of tables, and the default character sets of databases, at one position of
    the binlog.

    `folds_case`: the server compares table names case-insensitively.
    """

    def __init__(self, *, folds_case: bool) -> None:
        self._folds = folds_case
        self._tables: dict[TableId, Known] = {}
        self._databases: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def tables(self) -> Mapping[TableId, Known]:
        """The description of each table; a text instead says why its columns are unknown."""
        return self._tables

    @property
    def databases(self) -> Mapping[str, str]:
        """Return the default character set of each database."""
        return self._databases

    def of(self, table: TableId) -> Known | None:
        """Return the description of a table; a text with the reason if it is uncertain; None if
        there is no such table.
        """
        return self._tables.get(self.name(table))

    def put(self, table: TableId, known: Known | None) -> None:
        """Set the description of a table; None removes the table."""
        if known is None:
            self._tables.pop(self.name(table), None)
        else:
            self._tables[self.name(table)] = known

    def put_database(self, database: str, charset: str | None) -> None:
        """Set the default character set of a database; None removes the database."""
        if charset is None:
            self._databases.pop(database, None)
        else:
            self._databases[database] = charset

    def name(self, table: TableId) -> TableId:
        """Return the name under which a table is stored: in lower case if the server compares names
        case-insensitively.
        """
        return TableId(table.database.lower(), table.table.lower()) if self._folds else table

    def doubt(self, tables: Iterable[TableId], reason: str) -> None:
        """Record that the columns of these tables are unknown. `reason` says why."""
        for table in tables:
            self.put(table, reason)

    def tables_of(self, database: str) -> list[TableId]:
        """Return the tables of a database."""
        return [
            table
            for table in self._tables
            if table.database == self.name(TableId(database, "")).database
        ]

"""Name: from a table map to the key that names a row, and the type texts of its columns."""

from collections.abc import Callable
from typing import Protocol

from relay.model.change import Statement
from relay.model.table import Column, TableDefinition, TableId, TableMap
from relay.schema.catalog_reader import CatalogTable
from relay.schema.ddl import Ddl, classify
from relay.schema.declared_types import DeclaredTypes


class Catalog(Protocol):
    """Whoever can describe a table as it is on the source now."""

    def read(self, table: TableId) -> CatalogTable | None: ...


class TableDefinitions:
    """Definitions of the tables in one stream, one for each table map.

    `type_text` writes a column's type as the server does. With `declared`, texts of DDL seen in the stream come first, as in Canal.
    The catalogue is asked once for each version of a table whose map names no primary key; its errors pass through.
    """

    def __init__(self, type_text: Callable[[Column], str], catalog: Catalog | None = None, declared: DeclaredTypes | None = None) -> None:
        self._type_text = type_text
        self._catalog = catalog
        self._declared = declared
        self._definitions: dict[TableId, TableDefinition] = {}

    def define(self, table: TableMap) -> TableDefinition:
        """Return the definition of a table version; only the latest version of each table is kept."""
        definition = self._definitions.get(table.id)
        if definition is None or (definition.map is not table and definition.map != table):
            texts = tuple(map(self._type_text, table.columns))
            definition = TableDefinition(table, table.primary_key or self._unique_key(table), self._shown(table, texts))
            self._definitions[table.id] = definition
        return definition

    def apply(self, statement: Statement) -> Ddl:
        """Take a statement in its place in the stream: say what it is, and forget what it may have changed."""
        ddl = classify(statement)
        if ddl.is_ddl:
            if self._declared is not None:
                self._declared.apply(statement, ddl)
            self._forget(ddl)
        return ddl

    def _forget(self, ddl: Ddl) -> None:
        for table in ddl.tables:
            self._definitions.pop(table, None)
        if not ddl.tables and ddl.kind:
            # An unrecognised statement may have changed any table; asking again costs little.
            self._definitions.clear()

    def _shown(self, table: TableMap, texts: tuple[str, ...]) -> tuple[str, ...]:
        declared = self._declared.texts(table) if self._declared is not None else None
        return texts if declared is None else declared

    def _unique_key(self, table: TableMap) -> tuple[int, ...]:
        """Find the first unique not-null key, if the table on the source still has the columns that the map names."""
        names = [column.name for column in table.columns]
        found = self._catalog.read(table.id) if self._catalog is not None else None
        if found is None or [name for name, _ in found.columns] != names:
            return ()
        for key in found.unique_keys:
            ordinals = tuple(names.index(name) for name in key)
            # The map is what held when the row was written: a column that allowed NULL then makes no key.
            if not any(table.columns[ordinal].nullable for ordinal in ordinals):
                return ordinals
        return ()

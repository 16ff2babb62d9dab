"""Name: from a table map to the key that names a row, and the type texts of its columns."""

from collections.abc import Callable
from sys import intern
from typing import Protocol

from relay.model.change import Statement
from relay.model.table import Column, TableDefinition, TableId, TableMap
from relay.schema.catalog_reader import CatalogTable
from relay.schema.ddl import Ddl, classify
from relay.schema.declared_types import DeclaredTypes
from relay.schema.refined_types import may_be_refined, refined_texts


class Catalog(Protocol):
    """Whoever can describe a table as it is on the source now."""

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None: ...


class TableDefinitions:
    """Definitions of the tables in one stream, one for each table map.

    `type_text` writes a column's type as the server does. Texts of DDL seen in the stream come first as they are with
    `as_declared`, as in Canal; otherwise they, and behind them the catalogue, only say what the map leaves out.
    The catalogue is asked at most once for each version of a table; its errors pass through.
    """

    def __init__(
        self,
        type_text: Callable[[Column], str],
        catalog: Catalog | None = None,
        declared: DeclaredTypes | None = None,
        *,
        as_declared: bool = False,
    ) -> None:
        self._type_text = type_text
        self._catalog = catalog
        self._declared = declared
        self._as_declared = as_declared
        self._definitions: dict[TableId, TableDefinition] = {}

    def define(self, table: TableMap) -> TableDefinition:
        """Return the definition of a table version; only the latest version of each table is kept."""
        definition = self._definitions.get(table.id)
        if definition is None or (definition.map is not table and definition.map != table):
            definition = self._definitions[table.id] = self._describe(table)
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

    def _describe(self, table: TableMap) -> TableDefinition:
        texts = tuple(map(self._type_text, table.columns))
        declared = self._declared.texts(table) if self._declared is not None else None
        refine = not self._as_declared and may_be_refined(table)
        found = self._catalogued(table) if not table.primary_key or (refine and declared is None) else None
        if declared is None and refine and found is not None:
            declared = tuple(text for _, text in found.columns)
        if declared is not None:
            texts = declared if self._as_declared else refined_texts(table, texts, declared)
        # Shards of one table have the same texts, and there may be thousands.
        return TableDefinition(table, table.primary_key or _unique_key(table, found), tuple(map(intern, texts)))

    def _catalogued(self, table: TableMap) -> CatalogTable | None:
        """Ask the source, and take the answer only if its table still has the columns that the map names."""
        found = self._catalog.read(table.id, keys=not table.primary_key) if self._catalog is not None else None
        names = [column.name for column in table.columns]
        return found if found is not None and [name for name, _ in found.columns] == names else None


def _unique_key(table: TableMap, found: CatalogTable | None) -> tuple[int, ...]:
    """Find the first unique not-null key."""
    names = [column.name for column in table.columns]
    for key in found.unique_keys if found is not None else ():
        ordinals = tuple(names.index(name) for name in key)
        # The map is what held when the row was written: a column that allowed NULL then makes no key.
        if not any(table.columns[ordinal].nullable for ordinal in ordinals):
            return ordinals
    return ()

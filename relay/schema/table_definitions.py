"""Derives from a table map the key that identifies a row, and the type texts of columns."""

from collections.abc import Callable
from dataclasses import replace
from sys import intern
from typing import Protocol

from relay.model.change import Statement
from relay.model.table import (
    Column,
    KeyKind,
    TableDefinition,
    TableId,
    TableMap,
    is_in_row_metadata,
)
from relay.schema.catalog.catalog_queries import CatalogTable, CatalogVersions
from relay.schema.ddl import Ddl, classify
from relay.schema.declared_types import DeclaredTypes
from relay.schema.refined_types import may_be_refined, refined_texts
from relay.schema.system_versions import (
    HIDDEN_NAMES,
    HIDDEN_TYPE,
    end_of_versions,
    has_hidden_times,
    is_known_to_have_versions,
    may_have_versions,
    with_versions,
)


class Catalog(Protocol):
    """Describes tables of the source as they are now. CatalogReader implements it."""

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        """Return a table as it is now; None if it does not exist.

        Without `keys` the primary and unique keys are not read.
        """

    def versions(self, table: TableId) -> CatalogVersions | None:
        """Return the system versioning of a MariaDB table as it is now; None if the table does not
        exist.
        """


class TableDefinitions:
    """The definitions of the tables in one stream, one for each table map.

    type_text      writes a column's type as the server does
    catalog        describes tables as they are now; None: no catalogue
    declared       types that DDL in the stream wrote
    as_declared    use these type texts unchanged, as Canal does; otherwise they, and then the
                   catalogue, supply only facts that the table map lacks
    marks_history  for system-versioned tables, keys of current rows lack the column that ends a
                   version

    The catalogue is queried at most once for each version of a table. Its errors are raised
    unchanged.
    """

    def __init__(
        self,
        type_text: Callable[[Column], str],
        catalog: Catalog | None = None,
        declared: DeclaredTypes | None = None,
        *,
        as_declared: bool = False,
        marks_history: bool = False,
    ) -> None:
        self._type_text = type_text
        self._catalog = catalog
        self._declared = declared
        self._as_declared = as_declared
        self._marks_history = marks_history
        self._definitions: dict[TableId, TableDefinition] = {}

    def define(self, table: TableMap) -> TableDefinition:
        """Return the definition of a table map. For each table, only the latest definition is
        cached.
        """
        definition = self._definitions.get(table.id)
        if definition is None or (definition.map is not table and definition.map != table):
            definition = self._definitions[table.id] = self._describe(table)
        return definition

    def apply(self, statement: Statement) -> Ddl:
        """Apply a statement and return its kind. Cached definitions that it may have changed are
        removed.

        Call it in the order of the stream.
        """
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
            # A statement that was not recognised may have changed any table.
            self._definitions.clear()

    def _describe(self, table: TableMap) -> TableDefinition:
        texts = tuple(map(self._type_text, table.columns))
        end = self._end_of_versions(table)
        declared = self._declared_texts(table, end)
        refine = not self._as_declared and may_be_refined(table)
        keys = self._keys_are_asked_for(table)
        found = (
            self._catalogued(table, keys=keys, end=end)
            if keys or (refine and declared is None)
            else None
        )
        if declared is None and refine and found is not None:
            declared = tuple(text for _, text in found.columns)
        if declared is not None:
            texts = declared if self._as_declared else refined_texts(table, texts, declared)
        # Shards of one table have the same texts, and there may be thousands.
        key = (
            _primary_key(table, found)
            if self._as_declared
            else table.primary_key or _unique_key(table, found)
        )
        definition = TableDefinition(table, key, tuple(map(intern, texts)))
        return definition if end is None else with_versions(definition, end)

    def _declared_texts(self, table: TableMap, end: int | None) -> tuple[str, ...] | None:
        if self._declared is None:
            return None
        if not has_hidden_times(table, end):
            return self._declared.texts(table)
        texts = self._declared.texts(replace(table, columns=table.columns[: -len(HIDDEN_NAMES)]))
        return None if texts is None else (*texts, *[HIDDEN_TYPE] * len(HIDDEN_NAMES))

    def _end_of_versions(self, table: TableMap) -> int | None:
        """Return the ordinal of the column that ends a version, for a table whose history rows are
        marked.
        """
        if not self._marks_history or self._catalog is None or not may_have_versions(table):
            return None
        return end_of_versions(
            table, None if is_known_to_have_versions(table) else self._catalog.versions(table.id)
        )

    def _keys_are_asked_for(self, table: TableMap) -> bool:
        """Return whether the catalogue must be asked for the table's key, because neither the
        binlog nor the history determines it.
        """
        if table.key_kind is not KeyKind.EITHER:
            return table.key_kind is KeyKind.UNKNOWN
        if self._as_declared:
            return bool(table.primary_key)
        ordinals = [ordinal for ordinal, column in enumerate(table.columns) if not column.nullable]
        return not table.primary_key and not is_in_row_metadata(table.columns, ordinals)

    def _catalogued(self, table: TableMap, *, keys: bool, end: int | None) -> CatalogTable | None:
        """Query the source. Return its answer only if the table still has the columns of the table
        map.
        """
        found = self._catalog.read(table.id, keys=keys) if self._catalog is not None else None
        if found is not None and has_hidden_times(table, end):
            found = replace(
                found, columns=(*found.columns, *((name, HIDDEN_TYPE) for name in HIDDEN_NAMES))
            )
        names = [column.name for column in table.columns]
        return found if found is not None and [name for name, _ in found.columns] == names else None


def _unique_key(table: TableMap, found: CatalogTable | None) -> tuple[int, ...]:
    """Return the ordinals of the first unique key without NULL; () if the table map itself names
    the key.
    """
    names = [column.name for column in table.columns]
    for key in found.unique_keys if found is not None else ():
        ordinals = tuple(names.index(name) for name in key)
        # The table map shows the table when the row was written. If a column allowed NULL then, the
        # key did not identify rows.
        named_by_map = table.key_kind is KeyKind.EITHER and is_in_row_metadata(
            table.columns, ordinals
        )
        if not named_by_map and not any(table.columns[ordinal].nullable for ordinal in ordinals):
            return ordinals
    return ()


def _primary_key(table: TableMap, found: CatalogTable | None) -> tuple[int, ...]:
    """Return the ordinals of a real PRIMARY KEY, the only kind of key that Canal uses.

    Row metadata does not say whether its key is one. If the catalogue no longer has that key, the
    relay assumes that it was one.
    """
    if table.key_kind in (KeyKind.PRIMARY, KeyKind.NOT_PRIMARY):
        return table.primary_key if table.key_kind is KeyKind.PRIMARY else ()
    if found is None:
        return table.primary_key
    names = [column.name for column in table.columns]
    primary = tuple(names.index(name) for name in found.primary_key if name in names)
    if table.key_kind is KeyKind.UNKNOWN:
        return primary
    unique = {tuple(names.index(name) for name in key) for key in found.unique_keys}
    return () if not primary and table.primary_key in unique else table.primary_key

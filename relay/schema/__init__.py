"""Name: keys and type texts of tables, and what the statements in the stream are."""

from relay.schema.catalog_reader import CatalogReader, CatalogTable
from relay.schema.catalog_snapshot import CatalogSnapshot
from relay.schema.ddl import Ddl, StatementKind, classify
from relay.schema.declared_types import DeclaredTypes
from relay.schema.history import Base, HistoryPlace, Schemas, TableHistory, Version, folded, parse_record, superseded
from relay.schema.renaming import renamed_sql
from relay.schema.table_definitions import Catalog, TableDefinitions

__all__ = [
    "Base",
    "Catalog",
    "CatalogReader",
    "CatalogSnapshot",
    "CatalogTable",
    "Ddl",
    "DeclaredTypes",
    "HistoryPlace",
    "Schemas",
    "StatementKind",
    "TableDefinitions",
    "TableHistory",
    "Version",
    "classify",
    "folded",
    "parse_record",
    "renamed_sql",
    "superseded",
]

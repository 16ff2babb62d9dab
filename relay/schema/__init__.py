"""Name: keys and type texts of tables, and what the statements in the stream are."""

from relay.schema.catalog_reader import CatalogReader, CatalogTable
from relay.schema.ddl import Ddl, StatementKind, classify
from relay.schema.declared_types import DeclaredTypes
from relay.schema.renaming import renamed_sql
from relay.schema.table_definitions import Catalog, TableDefinitions

__all__ = [
    "Catalog",
    "CatalogReader",
    "CatalogTable",
    "Ddl",
    "DeclaredTypes",
    "StatementKind",
    "TableDefinitions",
    "classify",
    "renamed_sql",
]

"""Table schemas: the keys of tables, the type texts of their columns, and the kinds of statements
in the stream.
"""

from relay.schema.catalog.catalog_queries import CatalogTable, CatalogVersions
from relay.schema.catalog.catalog_reader import CatalogReader
from relay.schema.catalog.catalog_snapshot import CatalogSnapshot
from relay.schema.column_renames import column_renames
from relay.schema.copied import CopiedTable, copied_table, described_map
from relay.schema.ddl import Ddl, classify
from relay.schema.declared_types import DeclaredTypes
from relay.schema.history import (
    Base,
    DescribedTable,
    HistoryPosition,
    Known,
    Schemas,
    TableHistory,
    Version,
    base_at,
    folded,
    later_bases,
    parse_record,
    superseded,
)
from relay.schema.renaming import renamed_sql
from relay.schema.statement_kind import StatementKind
from relay.schema.table_definitions import Catalog, TableDefinitions

__all__ = [
    "Base",
    "Catalog",
    "CatalogReader",
    "CatalogSnapshot",
    "CatalogTable",
    "CatalogVersions",
    "CopiedTable",
    "Ddl",
    "DeclaredTypes",
    "DescribedTable",
    "HistoryPosition",
    "Known",
    "Schemas",
    "StatementKind",
    "TableDefinitions",
    "TableHistory",
    "Version",
    "base_at",
    "classify",
    "column_renames",
    "copied_table",
    "described_map",
    "folded",
    "later_bases",
    "parse_record",
    "renamed_sql",
    "superseded",
]

"""Facts about tables that every binlog lacks, or that some binlogs lack: keys, type texts, column
names, and the effect of DDL on them.

With this package, the reading thread completes table maps, and the publisher defines tables and
recognises statements.
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
    FollowedTables,
    HistoryPosition,
    Known,
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
    "FollowedTables",
    "HistoryPosition",
    "Known",
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

"""Converts rows of the source's catalogue into descriptions of all tables."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from relay.model.table import TableId
from relay.schema.history.column_words import (
    CHARACTER_KINDS,
    charset_name,
    charset_of_collation_name,
)
from relay.schema.history.columns.column_definition import typed
from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.history.indexes.index_order import in_server_order
from relay.schema.history.indexes.key_definitions import EXPRESSION
from relay.schema.history.system_versions import with_end_of_versions, with_versions
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import tokenize

Row = Mapping[str, Any]

DATABASES: Final = (
    "SELECT SCHEMA_NAME AS db, DEFAULT_CHARACTER_SET_NAME AS cs FROM information_schema.SCHEMATA "
    "WHERE SCHEMA_NAME NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
)
TABLES: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, TABLE_TYPE AS kind, TABLE_COLLATION AS "
    "collation_name FROM information_schema.TABLES "
    "WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys') "
    "AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'SEQUENCE')"
)
COLUMNS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, COLUMN_NAME AS name, COLUMN_TYPE AS type, "
    "IS_NULLABLE AS nullable, "
    "CHARACTER_SET_NAME AS cs, EXTRA AS extra FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
)
PRIMARY_KEYS: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, CONSTRAINT_NAME AS ix, COLUMN_NAME AS name "
    "FROM information_schema.KEY_COLUMN_USAGE "
    "WHERE CONSTRAINT_NAME = 'PRIMARY' AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', "
    "'performance_schema', 'sys')"
)
INDEXES: Final = (
    "SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tb, INDEX_NAME AS ix, COLUMN_NAME AS name, "
    "NON_UNIQUE AS more, SUB_PART AS prefix "
    "FROM information_schema.STATISTICS WHERE INDEX_NAME <> 'PRIMARY' "
    "AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
)
INDEXES_IN_ORDER: Final = " ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX"
COLUMNS_IN_ORDER: Final = " ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"


@dataclass(frozen=True, slots=True)
class CatalogSnapshot:
    """The descriptions of all tables, except those of the server's own databases.

    tables     description of each table
    databases  default character set of each database
    mariadb    whether the server is MariaDB
    """

    tables: dict[TableId, DescribedTable] = field(default_factory=dict)
    databases: dict[str, str] = field(default_factory=dict)
    mariadb: bool = False


def only(tables: Collection[TableId]) -> tuple[str, list[str]]:
    """Return (SQL condition, its parameters) for these tables; ("", []) if `tables` is empty, for
    all tables.
    """
    if not tables:
        return "", []
    pairs = ", ".join(["(%s, %s)"] * len(tables))
    return f" AND (TABLE_SCHEMA, TABLE_NAME) IN ({pairs})", [
        name for table in tables for name in table
    ]


def described_tables(
    tables: Iterable[Row], columns: Iterable[Row], keys: Iterable[Row], *, mariadb: bool
) -> dict[TableId, DescribedTable]:
    """Return the descriptions of tables, from rows of the catalogue.

    `columns`, and the columns of each key, must be in order; the keys need not be.
    """
    of_columns: dict[TableId, list[DescribedColumn]] = defaultdict(list)
    of_keys: dict[TableId, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    declared: set[TableId] = set()
    for row in columns:
        of_columns[_id(row)].append(_column(row, mariadb=mariadb))
        declared |= {_id(row)} if _is_time_of_version(row) else set()
    for row in keys:
        of_keys[_id(row)][row["ix"]].append(row)
    found = {}
    for row in tables:
        table = _id(row)
        charset = (
            charset_of_collation_name(row["collation_name"]) if row["collation_name"] else None
        )
        indexes = of_keys[table]
        primary = tuple(part["name"] for part in indexes.pop("PRIMARY", ()))
        whole = DescribedTable(tuple(of_columns[table]), primary, charset)
        if row["kind"] == "SYSTEM VERSIONED" and table not in declared:
            whole = with_versions(whole)
        described = (_index(name, parts) for name, parts in indexes.items())
        found[table] = with_end_of_versions(
            replace(whole, indexes=in_server_order(described, whole.columns))
        )
    return found


def in_shown_order(table: DescribedTable, names: Sequence[str]) -> DescribedTable:
    """Return the table with its unique keys in the order that the server shows."""
    place = {name: at for at, name in enumerate(names)}
    indexes = sorted(
        table.indexes or (),
        key=lambda index: (
            not index.unique,
            place.get(index.name, len(place)) if index.unique else 0,
        ),
    )
    return replace(table, indexes=tuple(indexes))


def _index(name: str, parts: Sequence[Row]) -> DescribedIndex:
    unique = not parts[0]["more"]
    prefixes = tuple(EXPRESSION if part["name"] is None else part["prefix"] or 0 for part in parts)
    return DescribedIndex(
        name,
        tuple(part["name"] or "" for part in parts),
        unique,
        prefixes if unique and any(prefixes) else (),
    )


def _id(row: Row) -> TableId:
    return TableId(row["db"], row["tb"])


def _column(row: Row, *, mariadb: bool) -> DescribedColumn:
    charset = charset_name(row["cs"]) if row["cs"] else None
    cursor = TokenCursor(tokenize(row["type"]), row["db"])
    found = typed(row["name"], cursor, charset, mariadb=mariadb)
    column = found.column if found is not None else DescribedColumn(row["name"], "")
    if column.kind in CHARACTER_KINDS and charset is None:
        column = replace(
            column, charset="binary"
        )  # labels of an ENUM in the character set of bytes
    return replace(
        column,
        nullable=row["nullable"] == "YES",
        visible="INVISIBLE" not in (row["extra"] or "").upper(),
    )


def _is_time_of_version(row: Row) -> bool:
    """Return whether a column of a system-versioned table was declared AS ROW START or AS ROW END.

    It is the only kind of generated column that is NOT NULL.
    """
    return row["nullable"] == "NO" and "GENERATED" in (row["extra"] or "").upper()

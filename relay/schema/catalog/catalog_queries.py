"""Queries on a server's catalogue, and the parsers of their results.

They raise PyMySQL's errors, which `CatalogReader` translates.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import pymysql
from pymysql.cursors import DictCursor

from relay.model.names.quoted_name import quoted
from relay.model.table import TableId
from relay.schema.catalog.catalog_snapshot import (
    COLUMNS,
    COLUMNS_IN_ORDER,
    DATABASES,
    INDEXES,
    INDEXES_IN_ORDER,
    PRIMARY_KEYS,
    TABLES,
    CatalogSnapshot,
    described_tables,
    in_shown_order,
    only,
)
from relay.schema.history.column_words import charset_name

ROW_END: Final = "row_end"
"""MariaDB's name of the column that ends a version, if the table's statement names none."""
# Error numbers (MySQL manual: Server Error Message Reference).
NO_SUCH_DATABASE_OR_TABLE: Final = frozenset({1049, 1051, 1109, 1146})
NOT_PERMITTED: Final = frozenset({1142, 1143, 1227, 1370})


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as the server describes it now.

    columns      (name, type) of each column, in order
    unique_keys  the columns of each unique key that identifies a row, in the server's order: keys
                 without nullable columns, prefixes and expressions; () if keys were not requested
    primary_key  the columns of a real PRIMARY KEY; () if keys were not requested
    """

    columns: tuple[tuple[str, str], ...]
    unique_keys: tuple[tuple[str, ...], ...]
    primary_key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogVersions:
    """The system versioning of a table as the server describes it now.

    columns  the column names that the catalogue shows, in order; empty on a server without system
             versioning
    end      the column that ends a version, "" if the table is not versioned. MariaDB hides this
             column if the statement that created the table did not name it
    """

    columns: tuple[str, ...]
    end: str = ""


def describe_table(
    connection: "pymysql.Connection[DictCursor]", table: TableId, *, keys: bool
) -> CatalogTable | None:
    """Return a table as it is now; None if it does not exist. Without `keys`, its keys are not
    read.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type FROM information_schema.COLUMNS "
            "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
            (table.database, table.table),
        )
        columns = tuple((row["name"], row["type"]) for row in cursor.fetchall())
        if not columns:
            return None
        if not keys:
            return CatalogTable(columns, ())
        cursor.execute(f"SHOW INDEX FROM {quoted(table.table)} FROM {quoted(table.database)}")
        rows = cursor.fetchall()
        return CatalogTable(
            columns,
            _unique_keys(rows),
            tuple(row["Column_name"] for row in rows if row["Key_name"] == "PRIMARY"),
        )


def server_version(cursor: DictCursor) -> str:
    """Return the version as the server prints it; MariaDB's contains the word MariaDB."""
    cursor.execute("SELECT VERSION() AS version")
    return "".join(row["version"] for row in cursor.fetchall())


def versions_of(
    connection: "pymysql.Connection[DictCursor]", table: TableId
) -> CatalogVersions | None:
    """Return the system versioning of a table as it is now; None if the table does not exist."""
    these = (table.database, table.table)
    with connection.cursor() as cursor:
        if "mariadb" not in server_version(cursor).lower():
            return CatalogVersions(())
        cursor.execute(
            "SELECT TABLE_TYPE AS kind FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s "
            "AND TABLE_NAME = %s",
            these,
        )
        versioned = "SYSTEM VERSIONED" in [row["kind"] for row in cursor.fetchall()]
        cursor.execute(
            "SELECT COLUMN_NAME AS name, GENERATION_EXPRESSION AS made FROM "
            "information_schema.COLUMNS "
            "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
            these,
        )
        rows = cursor.fetchall()
    declared = [row["name"] for row in rows if row["made"] == "ROW END"]
    end = declared[0] if declared else ROW_END if versioned else ""
    return CatalogVersions(tuple(row["name"] for row in rows), end) if rows else None


def read_snapshot(cursor: DictCursor, tables: Collection[TableId]) -> CatalogSnapshot:
    """Return the descriptions of all tables as they are now; if `tables` is not empty, only of
    these.
    """

    def rows(sql: str, *parameters: str) -> "list[dict[str, Any]]":
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())

    these, parameters = only(tables)
    mariadb = "mariadb" in server_version(cursor).lower()
    described = described_tables(
        rows(TABLES + these, *parameters),
        rows(COLUMNS + these + COLUMNS_IN_ORDER, *parameters),
        rows(PRIMARY_KEYS + these + COLUMNS_IN_ORDER, *parameters)
        + rows(INDEXES + these + INDEXES_IN_ORDER, *parameters),
        mariadb=mariadb,
    )
    for table, known in described.items():
        if sum(index.unique for index in known.indexes or ()) > 1:
            described[table] = in_shown_order(known, _shown_indexes(cursor, table))
    databases = {row["db"]: charset_name(row["cs"]) for row in rows(DATABASES)}
    return CatalogSnapshot(described, databases, mariadb)


def create_statement(cursor: DictCursor, table: TableId) -> str:
    """Return the text of SHOW CREATE TABLE; "" if the table does not exist or the account may not
    see it.
    """
    try:
        cursor.execute(f"SHOW CREATE TABLE {quoted(table.database)}.{quoted(table.table)}")
    except pymysql.err.MySQLError as exc:
        if error_number(exc) in NO_SUCH_DATABASE_OR_TABLE | NOT_PERMITTED:
            return ""
        raise
    return "".join(str(row["Create Table"]) for row in cursor.fetchall())


def _shown_indexes(cursor: DictCursor, table: TableId) -> list[str]:
    """Return the names of a table's indexes in the server's order, which only SHOW INDEX shows.

    Empty if the table no longer exists.
    """
    try:
        cursor.execute(f"SHOW INDEX FROM {quoted(table.table)} FROM {quoted(table.database)}")
    except pymysql.err.MySQLError as exc:
        if error_number(exc) in NO_SUCH_DATABASE_OR_TABLE:
            return []
        raise
    return list(dict.fromkeys(row["Key_name"] for row in cursor.fetchall()))


def error_number(exc: Exception) -> int:
    """Return the error number of the server or of PyMySQL; 0 if the error has none."""
    return exc.args[0] if exc.args and isinstance(exc.args[0], int) else 0


def _unique_keys(
    rows: "tuple[dict[str, Any], ...] | list[dict[str, Any]]",
) -> tuple[tuple[str, ...], ...]:
    """Return the unique keys in rows of SHOW INDEX, in the server's order, each as its column
    names.

    Keys over a prefix, an expression or a nullable column identify no row and are omitted.
    """
    keys: dict[str, list[str] | None] = {}
    for row in rows:
        name = row["Key_name"]
        columns = keys.setdefault(name, [])
        if (
            row["Non_unique"]
            or row["Null"] == "YES"
            or row["Sub_part"] is not None
            or row["Column_name"] is None
        ):
            keys[name] = None
        elif columns is not None:
            columns.append(row["Column_name"])
    return tuple(tuple(columns) for columns in keys.values() if columns)

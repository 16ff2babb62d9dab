"""Types and unique keys of one table from the source's own catalogue, for what a table map does not
carry.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import pymysql
from pymysql.cursors import DictCursor

from relay.errors import RelayError, SourceLoginRefused, SourceNotPermitted, SourceUnreachable
from relay.model.table import TableId
from relay.schema.catalog.cascades import (
    NATIVE,
    PLAIN_QUOTES,
    TABLES_WITH_KEYS,
    Cascade,
    cascades_are_logged,
    cascades_of,
)
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
from relay.schema.catalog.generated_columns import GENERATED, generated_columns_are_logged
from relay.schema.history.column_words import charset_name
from relay.settings import SourceSettings
from relay.tls import login

Answer = TypeVar("Answer")

ROW_END: Final = "row_end"
"""MariaDB's name for the end of a version where the table's statement names none."""

# Numbers of MySQL's error reference.
_NO_SUCH_DATABASE_OR_TABLE: Final = frozenset({1049, 1051, 1109, 1146})
_DATABASE_DENIED: Final = 1044
_LOGIN_REFUSED: Final = frozenset({_DATABASE_DENIED, 1045, 1698})
_NOT_PERMITTED: Final = frozenset({1142, 1143, 1227, 1370})


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as the server describes it now: column names and types in order, and the unique
    not-null keys in the server's order.

    `primary_key` holds the columns of a real PRIMARY KEY. Both are empty where nobody has asked for
    keys.
    """

    columns: tuple[tuple[str, str], ...]
    unique_keys: tuple[tuple[str, ...], ...]
    primary_key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogVersions:
    """What the server says now about the versions of a table's rows.

    `columns` are the names that the catalogue shows, in order; none on a server that keeps no
    versions. `end` is the column that ends a version, "" where the table keeps none; MariaDB does
    not show that column where the table was made without naming it.
    """

    columns: tuple[str, ...]
    end: str = ""


class CatalogReader:
    """Asks the source about one table after the other over a connection of its own.

    Used by one thread.

    The connection stays: at a start every table is new, and logging in costs ten times as much as
    the question, with TLS a hundred times.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._connection: pymysql.Connection[DictCursor] | None = None

    def close(self) -> None:
        """Give the connection back; a later question makes a new one."""
        if self._connection is not None:
            with suppress(pymysql.err.MySQLError, OSError):
                self._connection.close()
            self._connection = None

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        """Describe a table as it is now, with or without its keys; None if it is gone.

        Raises SourceUnreachable, SourceLoginRefused or SourceNotPermitted.
        """
        where = f"{self._settings.host}:{self._settings.port}"
        try:
            return self._answer(lambda connection: _describe(connection, table, keys=keys))
        except pymysql.err.MySQLError as exc:
            if _number(exc) in _NO_SUCH_DATABASE_OR_TABLE:
                # It vanished between two questions.
                return None
            raise self._translated(exc, f"when asked for the keys of {table} on {where}") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"{where} cannot be reached to ask for the keys of {table}: {exc}."
            ) from exc

    def versions(self, table: TableId) -> CatalogVersions | None:
        """Say whether a table keeps versions of its rows now.

        None if it is gone, or if the account may not see it. Raises as `read`.
        """
        try:
            return self._answer(lambda connection: _versions(connection, table))
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, f"when asked for the versions of {table}") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server did not answer when asked for the versions of {table}: {exc}."
            ) from exc

    def every_column(self) -> list[tuple[TableId, str]]:
        """Name every column of every table that the user may see, in the server's order.

        Raises SourceUnreachable, SourceLoginRefused or SourceNotPermitted.
        """
        try:
            if self._connection is None:
                self._connection = self._connect()
            with self._connection.cursor() as cursor:
                cursor.execute(
                    "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, COLUMN_NAME AS c FROM "
                    "information_schema.COLUMNS"
                )
                return [(TableId(row["d"], row["t"]), row["c"]) for row in cursor.fetchall()]
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, "when asked for its columns") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server did not answer when asked for its columns: {exc}."
            ) from exc

    def unlogged_generated_columns(self) -> Sequence[tuple[TableId, str]]:
        """Return the generated columns that the binlog lacks in updates and deletes, by table.

        A table that the user may not see is left out. Raises SourceUnreachable, SourceLoginRefused
        or SourceNotPermitted.
        """
        try:
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SELECT VERSION() AS version")
                version = "".join(row["version"] for row in cursor.fetchall())
                if generated_columns_are_logged(version):
                    return ()
                cursor.execute(GENERATED)
                return [(TableId(row["d"], row["t"]), row["c"]) for row in cursor.fetchall()]
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, "when asked for its generated columns") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server did not answer when asked for its generated columns: {exc}."
            ) from exc

    def unlogged_cascades(self, wanted: Callable[[TableId], bool]) -> Sequence[Cascade]:
        """Return the foreign keys by which the server changes rows of wanted tables that its binlog
        does not tell, sorted by table.

        A table that the user may not SELECT from is not seen. Raises SourceUnreachable,
        SourceLoginRefused or SourceNotPermitted.
        """
        try:
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                cursor.execute("SELECT VERSION() AS version")
                version = "".join(row["version"] for row in cursor.fetchall())
                cursor.execute(NATIVE)
                if cascades_are_logged(version, "".join(row["Value"] for row in cursor.fetchall())):
                    return ()
                cursor.execute(TABLES_WITH_KEYS)
                tables = sorted(TableId(row["db"], row["tb"]) for row in cursor.fetchall())
                cursor.execute(PLAIN_QUOTES)
                return [
                    each
                    for table in tables
                    if wanted(table)
                    for each in cascades_of(table, _created(cursor, table))
                ]
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, "when asked for its foreign keys") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server did not answer when asked for its foreign keys: {exc}."
            ) from exc

    def snapshot(self, tables: Collection[TableId] = ()) -> CatalogSnapshot:
        """Describe all tables as they are now, or these alone. Raises as `read` does."""
        where = f"{self._settings.host}:{self._settings.port}"
        try:
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                return _snapshot(cursor, tables)
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, f"when asked for the tables of {where}") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"{where} cannot be reached to ask for its tables: {exc}."
            ) from exc

    def may_describe(self, table: TableId) -> bool:
        """Return whether the account may see a table's columns; True also for one that is gone.

        Raises as `read` does.
        """
        try:
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                cursor.execute(
                    f"SHOW COLUMNS FROM {_quoted(table.table)} FROM {_quoted(table.database)}"
                )
        except pymysql.err.MySQLError as exc:
            if _number(exc) in _NOT_PERMITTED or _number(exc) == _DATABASE_DENIED:
                return False
            if _number(exc) not in _NO_SUCH_DATABASE_OR_TABLE:
                raise self._translated(exc, f"when asked for {table}") from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server did not answer when asked for {table}: {exc}."
            ) from exc
        return True

    def _answer(self, question: "Callable[[pymysql.Connection[DictCursor]], Answer]") -> Answer:
        """Ask over the connection that is there.

        One that has been closed meanwhile is made anew, once.
        """
        if self._connection is not None:
            try:
                return question(self._connection)
            except (pymysql.err.MySQLError, OSError) as exc:
                self.close()
                if _number(exc) in _NO_SUCH_DATABASE_OR_TABLE | _NOT_PERMITTED:
                    raise
        self._connection = self._connect()
        return question(self._connection)

    def _connect(self) -> "pymysql.Connection[DictCursor]":
        settings = self._settings
        return pymysql.connect(
            **login(settings),
            cursorclass=DictCursor,
            connect_timeout=settings.connect_timeout_seconds,
            read_timeout=settings.read_timeout_seconds,
            write_timeout=settings.read_timeout_seconds,
        )

    def _translated(self, exc: pymysql.err.MySQLError, when: str) -> RelayError:
        if _number(exc) in _LOGIN_REFUSED:
            return SourceLoginRefused(f"The server refused {self._settings.user!r} {when}.")
        if _number(exc) in _NOT_PERMITTED:
            return SourceNotPermitted(
                f"The server denied {self._settings.user!r} the catalogue {when}."
            )
        return SourceUnreachable(f"The server did not answer {when}: {exc}.")


def _describe(
    connection: "pymysql.Connection[DictCursor]", table: TableId, *, keys: bool
) -> CatalogTable | None:
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
        cursor.execute(f"SHOW INDEX FROM {_quoted(table.table)} FROM {_quoted(table.database)}")
        rows = cursor.fetchall()
        return CatalogTable(
            columns,
            _unique_keys(rows),
            tuple(row["Column_name"] for row in rows if row["Key_name"] == "PRIMARY"),
        )


def _versions(
    connection: "pymysql.Connection[DictCursor]", table: TableId
) -> CatalogVersions | None:
    these = (table.database, table.table)
    with connection.cursor() as cursor:
        cursor.execute("SELECT VERSION() AS version")
        if "mariadb" not in "".join(row["version"] for row in cursor.fetchall()).lower():
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


def _snapshot(cursor: DictCursor, tables: Collection[TableId]) -> CatalogSnapshot:
    def rows(sql: str, *parameters: str) -> "list[dict[str, Any]]":
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())

    these, parameters = only(tables)
    (server,) = rows("SELECT VERSION() AS version")
    described = described_tables(
        rows(TABLES + these, *parameters),
        rows(COLUMNS + these + COLUMNS_IN_ORDER, *parameters),
        rows(PRIMARY_KEYS + these + COLUMNS_IN_ORDER, *parameters)
        + rows(INDEXES + these + INDEXES_IN_ORDER, *parameters),
        mariadb="mariadb" in server["version"].lower(),
    )
    for table, known in described.items():
        if sum(index.unique for index in known.indexes or ()) > 1:
            described[table] = in_shown_order(known, _shown_indexes(cursor, table))
    databases = {row["db"]: charset_name(row["cs"]) for row in rows(DATABASES)}
    return CatalogSnapshot(described, databases)


def _created(cursor: DictCursor, table: TableId) -> str:
    """Return what SHOW CREATE TABLE says; "" of a table that is gone, or that the user may not
    see.
    """
    try:
        cursor.execute(f"SHOW CREATE TABLE {_quoted(table.database)}.{_quoted(table.table)}")
    except pymysql.err.MySQLError as exc:
        if _number(exc) in _NO_SUCH_DATABASE_OR_TABLE | _NOT_PERMITTED:
            return ""
        raise
    return "".join(str(row["Create Table"]) for row in cursor.fetchall())


def _shown_indexes(cursor: DictCursor, table: TableId) -> list[str]:
    """Name the indexes of a table in the server's order, which only SHOW INDEX keeps.

    None where the table is gone by now.
    """
    try:
        cursor.execute(f"SHOW INDEX FROM {_quoted(table.table)} FROM {_quoted(table.database)}")
    except pymysql.err.MySQLError as exc:
        if _number(exc) in _NO_SUCH_DATABASE_OR_TABLE:
            return []
        raise
    return list(dict.fromkeys(row["Key_name"] for row in cursor.fetchall()))


def _number(exc: Exception) -> int:
    """Return the server's or the client's error number, 0 where there is none."""
    return exc.args[0] if exc.args and isinstance(exc.args[0], int) else 0


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _unique_keys(
    rows: "tuple[dict[str, Any], ...] | list[dict[str, Any]]",
) -> tuple[tuple[str, ...], ...]:
    """Group SHOW INDEX by key, in its order.

    Keys over a prefix, an expression or a nullable column name no row and go.
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

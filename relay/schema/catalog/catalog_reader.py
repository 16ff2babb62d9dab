"""Reads facts about tables from the source's catalogue that table maps lack: types, keys, foreign
keys.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from sys import intern
from typing import Final, TypeVar

import pymysql
from pymysql.cursors import DictCursor

from relay.errors import RelayError, SourceLoginRefused, SourceNotPermitted, SourceUnreachable
from relay.model.names.quoted_name import quoted
from relay.model.source_rows.sessions import AND_SEE_ALL
from relay.model.table import TableId
from relay.schema.catalog.cascades import (
    NATIVE,
    PLAIN_QUOTES,
    TABLES_WITH_KEYS,
    Cascade,
    cascades_are_logged,
    cascades_of,
)
from relay.schema.catalog.catalog_queries import (
    NO_SUCH_DATABASE_OR_TABLE,
    NOT_PERMITTED,
    CatalogTable,
    CatalogVersions,
    create_statement,
    describe_table,
    error_number,
    read_snapshot,
    server_version,
    versions_of,
)
from relay.schema.catalog.catalog_snapshot import COLUMNS, COLUMNS_IN_ORDER, CatalogSnapshot
from relay.schema.catalog.generated_columns import GENERATED, generated_columns_are_logged
from relay.settings import SourceSettings
from relay.tls import login

Answer = TypeVar("Answer")
_SESSION: Final = f"SET SESSION sql_quote_show_create = 1{AND_SEE_ALL}"
_DATABASE_DENIED: Final = 1044
_LOCK_WAIT_TIMEOUT: Final = 1205
_LOGIN_REFUSED: Final = frozenset({_DATABASE_DENIED, 1045, 1698})


class CatalogReader:
    """Queries the catalogue of a source over a separate connection. Used by one thread.

    The connection stays open, because every table must be queried at a start. A login takes ten
    times as long as a query; with TLS, a hundred times.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._connection: pymysql.Connection[DictCursor] | None = None

    def close(self) -> None:
        """Close the connection. The next query opens another one."""
        if self._connection is not None:
            with suppress(pymysql.err.MySQLError, OSError):
                self._connection.close()
            self._connection = None

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        """Return a table as it is now; None if it does not exist. Without `keys`, its keys are not
        read.

        Raises SourceUnreachable, SourceLoginRefused or SourceNotPermitted.
        """
        with self._asking(f"the keys of {table}"):
            try:
                return self._answer(lambda connection: describe_table(connection, table, keys=keys))
            except pymysql.err.MySQLError as exc:
                if error_number(exc) in NO_SUCH_DATABASE_OR_TABLE:
                    return None  # the table was dropped between two queries
                raise

    def versions(self, table: TableId) -> CatalogVersions | None:
        """Return the system versioning of a table as it is now.

        None if the table does not exist or the account may not see it. Raises the errors of `read`.
        """
        with self._asking(f"the versions of {table}"):
            return self._answer(lambda connection: versions_of(connection, table))

    def every_column(self) -> list[tuple[TableId, str]]:
        """Return (table, column name) of every column that the account may see, in the server's
        order.

        Raises SourceUnreachable, SourceLoginRefused or SourceNotPermitted.
        """
        with self._cursor("its columns") as cursor:
            cursor.execute(
                "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, COLUMN_NAME AS c FROM "
                "information_schema.COLUMNS"
            )
            return [(TableId(row["d"], row["t"]), row["c"]) for row in cursor.fetchall()]

    def type_texts(self) -> Mapping[TableId, Sequence[tuple[str, str]]]:
        """Return (name, type) of every column by table, in the server's order.

        Raises SourceUnreachable, SourceLoginRefused or SourceNotPermitted.
        """
        found: dict[TableId, list[tuple[str, str]]] = {}
        with self._cursor("the types of its columns") as cursor:
            cursor.execute(COLUMNS + COLUMNS_IN_ORDER)
            for row in cursor.fetchall():
                table = TableId(row["db"], row["tb"])
                found.setdefault(table, []).append((row["name"], intern(row["type"])))
        return found

    def unlogged_generated_columns(self) -> Sequence[tuple[TableId, str]]:
        """Return (table, column name) of the generated columns that the binlog lacks in updates and
        deletes.

        Tables that the account may not see are missing. Raises SourceUnreachable,
        SourceLoginRefused or SourceNotPermitted.
        """
        with self._cursor("its generated columns") as cursor:
            version = server_version(cursor)
            if generated_columns_are_logged(version):
                return ()
            cursor.execute(GENERATED)
            return [(TableId(row["d"], row["t"]), row["c"]) for row in cursor.fetchall()]

    def unlogged_cascades(self, wanted: Callable[[TableId], bool]) -> Sequence[Cascade]:
        """Return the foreign keys through which the server changes rows of `wanted` tables without
        a binlog event, sorted by table.

        Tables that the account may not SELECT from are missing. Raises SourceUnreachable,
        SourceLoginRefused or SourceNotPermitted.
        """
        with self._cursor("its foreign keys") as cursor:
            version = server_version(cursor)
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
                for each in cascades_of(table, create_statement(cursor, table))
            ]

    def snapshot(self, tables: Collection[TableId] = ()) -> CatalogSnapshot:
        """Return the descriptions of all tables as they are now; if `tables` is not empty, only of
        these. Raises the errors of `read`.
        """
        with self._cursor("its tables") as cursor:
            return read_snapshot(cursor, tables)

    def locks_end(self, tables: Iterable[TableId], seconds: float) -> bool:
        """Wait until no statement changes these tables; return False if one still does after
        `seconds` seconds.

        A statement holds the lock of a table until its effect is visible, so the catalogue shows
        the effect after the wait. Raises the errors of `read`.
        """
        with self._asking("the locks of tables"):
            try:
                with closing(self._connect()) as connection, connection.cursor() as cursor:
                    cursor.execute(f"SET SESSION lock_wait_timeout = {max(1, round(seconds))}")
                    for table in tables:
                        create_statement(cursor, table)
            except pymysql.err.MySQLError as exc:
                if error_number(exc) == _LOCK_WAIT_TIMEOUT:
                    return False
                raise
        return True

    def may_describe(self, table: TableId) -> bool:
        """Return whether the account may see the columns of a table; True if the table does not
        exist.

        Raises the errors of `read`.
        """
        columns = f"SHOW COLUMNS FROM {quoted(table.table)} FROM {quoted(table.database)}"
        with self._asking(str(table)):
            try:
                with closing(self._connect()) as connection, connection.cursor() as cursor:
                    cursor.execute(columns)
            except pymysql.err.MySQLError as exc:
                if error_number(exc) in NOT_PERMITTED or error_number(exc) == _DATABASE_DENIED:
                    return False
                if error_number(exc) not in NO_SUCH_DATABASE_OR_TABLE:
                    raise
        return True

    def _answer(self, question: "Callable[[pymysql.Connection[DictCursor]], Answer]") -> Answer:
        """Return the result of a query over the open connection.

        If the connection was closed in the meantime, open a new one and try once more.
        """
        if self._connection is not None:
            try:
                return question(self._connection)
            except (pymysql.err.MySQLError, OSError) as exc:
                self.close()
                if error_number(exc) in NO_SUCH_DATABASE_OR_TABLE | NOT_PERMITTED:
                    raise
        self._connection = self._connect()
        return question(self._connection)

    def _connect(self) -> "pymysql.Connection[DictCursor]":
        settings = self._settings
        return pymysql.connect(
            **login(settings),
            init_command=_SESSION,
            cursorclass=DictCursor,
            connect_timeout=settings.connect_timeout_seconds,
            read_timeout=settings.read_timeout_seconds,
            write_timeout=settings.read_timeout_seconds,
        )

    @contextmanager
    def _cursor(self, what: str) -> Iterator[DictCursor]:
        """Context manager: a cursor for one query. Raises the errors of `_asking`."""
        with (
            self._asking(what),
            closing(self._connect()) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Context manager: translate the driver's errors into the relay's. `what` names the
        requested facts in messages.
        """
        where = f"{self._settings.host}:{self._settings.port}"
        try:
            yield
        except pymysql.err.MySQLError as exc:
            raise self._translated(exc, where, what) from exc
        except OSError as exc:
            raise SourceUnreachable(
                f"The server {where} did not answer when asked for {what}: {exc}."
            ) from exc

    def _translated(self, exc: pymysql.err.MySQLError, where: str, what: str) -> RelayError:
        user = self._settings.user
        if error_number(exc) in _LOGIN_REFUSED:
            return SourceLoginRefused(
                f"The server {where} refused {user!r} when asked for {what}: {exc}."
            )
        if error_number(exc) in NOT_PERMITTED:
            return SourceNotPermitted(
                f"The account {user!r} on the server {where} may not read {what} in the catalogue."
            )
        return SourceUnreachable(f"The server {where} did not answer when asked for {what}: {exc}.")

"""The way to the mirror: statements that are tried again for as long as patience lasts."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Event
from time import monotonic
from typing import Any, Final, TypeAlias

import pymysql
from pymysql.constants import CR, ER
from pymysql.cursors import SSCursor

from spark_jobs.errors import MirrorRefused, MirrorUnreachable
from spark_jobs.mirror.settings import MirrorSettings

Row: TypeAlias = tuple[Any, ...]
_PAUSE_S: Final = 0.5
# Away, going away, or in another writer's way: the same statement may succeed later, and all statements here may be repeated.
_PASSING: Final = frozenset(
    {
        CR.CR_CONNECTION_ERROR,
        CR.CR_CONN_HOST_ERROR,
        CR.CR_SERVER_GONE_ERROR,
        CR.CR_SERVER_LOST,
        ER.CON_COUNT_ERROR,
        ER.SERVER_SHUTDOWN,
        ER.LOCK_DEADLOCK,
        ER.LOCK_WAIT_TIMEOUT,
        0,  # the driver's own: the connection is closed
        1927,  # MariaDB: connection was killed
    }
)
# UTC, as all times of messages; a value that does not fit is an error instead of another value; only rows are locked, not what is between.
_SESSION: Final = (
    "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)


class NullRefused(MirrorRefused):
    """A statement put NULL where none may be: `upsert` does where a row of another key stands in its way."""


class Server:
    """One connection, made anew when it breaks. Raises MirrorUnreachable and MirrorRefused."""

    def __init__(self, settings: MirrorSettings) -> None:
        self._settings = settings
        self._connection: pymysql.connections.Connection[Any] | None = None

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """Run a statement, commit it, and return its rows."""
        deadline = monotonic() + self._settings.patience_seconds
        while True:
            try:
                return self._once(statement, values or None)
            except pymysql.MySQLError as exc:
                self._drop()
                self._refuse_unless_passing(exc, over=monotonic() + _PAUSE_S > deadline)
            Event().wait(_PAUSE_S)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """Yield the rows of a statement as they come, without holding all of them; not tried again."""
        try:
            with self._connected().cursor(SSCursor) as cursor:
                cursor.execute(statement, values)
                yield from cursor
        except pymysql.MySQLError as exc:
            self._drop()
            self._refuse_unless_passing(exc, over=True)

    def _once(self, statement: str, values: Sequence[object] | None) -> list[Row]:
        with self._connected().cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def _connected(self) -> "pymysql.connections.Connection[Any]":
        if self._connection is None:
            mine = self._settings
            self._connection = pymysql.connect(
                host=mine.host,
                port=mine.port,
                user=mine.user,
                password=mine.password.get_secret_value(),
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=max(1, int(mine.patience_seconds)),
                ssl=None if mine.ca_file is None else ssl.create_default_context(cafile=mine.ca_file),
            )
            with self._connection.cursor() as cursor:
                for statement in _SESSION:
                    cursor.execute(statement)
        return self._connection

    def _refuse_unless_passing(self, exc: pymysql.MySQLError, *, over: bool) -> None:
        place = f"{self._settings.host}:{self._settings.port}"
        says = exc.args[1] if len(exc.args) > 1 else exc
        if not exc.args or exc.args[0] not in _PASSING:
            refused = NullRefused if exc.args and exc.args[0] == ER.BAD_NULL_ERROR else MirrorRefused
            raise refused(f"The mirror at {place} says: {says}.") from exc
        if over:
            raise MirrorUnreachable(f"The mirror at {place} does not answer: {says}.") from exc

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(pymysql.MySQLError):  # it may be closed already
                self._connection.close()
            self._connection = None

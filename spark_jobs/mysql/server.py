"""Connects to the mirror, the MySQL or MariaDB server of the copies, and repeats statements until
`patience_seconds` have passed.
"""

import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pymysql
from pymysql.constants import CR, ER
from pymysql.cursors import SSCursor

from spark_jobs.config.mysql import MirrorSettings
from spark_jobs.errors import MirrorRefused, MirrorUnreachable

if TYPE_CHECKING:
    _Connection = pymysql.connections.Connection[Any]
else:
    _Connection = pymysql.connections.Connection  # generic for the type checker alone

Row: TypeAlias = tuple[Any, ...]
_PAUSE_S: Final = 0.5
_PROBES: Final = 3
_LONGEST_MS: Final = (1 << 31) - 1
# Away, going away, or in another writer's way: the same statement may succeed later, and all
# statements here may be repeated.
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
# UTC, as all times of messages; a value that does not fit is an error instead of another value;
# only rows are locked, not the gaps between them
_SESSION: Final = (
    "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
)


class NullRefused(MirrorRefused):
    """A statement wrote NULL into a NOT NULL column.

    `upsert` does so on purpose if a UNIQUE index conflicts with the row of another key.
    """


class BoundedConnection(_Connection):
    """A connection with time limits, because a server may stop without closing the connection."""

    _sock: socket.socket

    def bound(self, seconds: float | None) -> None:
        """Set the timeout in seconds of each read and write; None: no limit.

        After the timeout, reads and writes raise OperationalError.
        """
        self._read_timeout = seconds
        self._write_timeout = seconds

    def watch(self, seconds: float) -> None:
        """Configure the operating system to end the connection if the host does not answer
        keep-alive probes for about `seconds`.

        Without that, the loss of a host during a statement is noticed after hours, if at all.
        """
        pause = max(1, int(seconds / (_PROBES + 1)))
        options = {"TCP_KEEPIDLE": pause, "TCP_KEEPINTVL": pause, "TCP_KEEPCNT": _PROBES}
        options["TCP_USER_TIMEOUT"] = min(int(seconds * 1000), _LONGEST_MS)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options.items():
            if hasattr(socket, name):  # other systems have other names, and keep their own times
                self._sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Server:
    """One connection to the mirror, which is opened again if it breaks.

    The methods raise MirrorUnreachable and MirrorRefused.
    """

    def __init__(self, settings: MirrorSettings) -> None:
        self._settings = settings
        self._connection: BoundedConnection | None = None

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def run(
        self, statement: str, values: Sequence[object] = (), *, bounded: bool = True
    ) -> list[Row]:
        """Execute and commit a statement, and return its rows.

        values   values of its placeholders
        bounded  whether a server that does not answer within `patience_seconds` is an error. False:
                 for statements whose time grows with the table; only a broken connection ends them
        """
        deadline = monotonic() + self._settings.patience_seconds
        while True:
            try:
                return self._once(statement, values or None, deadline, bounded=bounded)
            except pymysql.MySQLError as exc:
                self._drop()
                self._refuse_unless_passing(exc, over=monotonic() + _PAUSE_S > deadline)
            Event().wait(_PAUSE_S)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """Yield the rows of a statement as they arrive. The statement is not repeated after an
        error.

        Each part of the answer may take `patience_seconds`. `values` are those of its placeholders.
        """
        seconds = self._settings.patience_seconds
        try:
            connection = self._connected(seconds)
            connection.bound(seconds)
            with connection.cursor(SSCursor) as cursor:
                cursor.execute(statement, values)
                yield from cursor
        except pymysql.MySQLError as exc:
            self._drop()
            self._refuse_unless_passing(exc, over=True)

    def _once(
        self, statement: str, values: Sequence[object] | None, deadline: float, *, bounded: bool
    ) -> list[Row]:
        connection = self._connected(_left(deadline))
        connection.bound(_left(deadline) if bounded else None)
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def _connected(self, seconds: float) -> BoundedConnection:
        """Return the connection with its session settings; a new one is opened within about
        `seconds`.
        """
        if self._connection is None:
            mine = self._settings
            self._connection = BoundedConnection(
                host=mine.host,
                port=mine.port,
                user=mine.user,
                password=mine.password.get_secret_value(),
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=seconds,
                read_timeout=seconds,
                write_timeout=seconds,
                ssl=None
                if mine.ca_file is None
                else ssl.create_default_context(cafile=mine.ca_file),
            )
            self._connection.watch(mine.patience_seconds)
            with self._connection.cursor() as cursor:
                for statement in _SESSION:
                    cursor.execute(statement)
        return self._connection

    def _refuse_unless_passing(self, exc: pymysql.MySQLError, *, over: bool) -> None:
        place = f"{self._settings.host}:{self._settings.port}"
        says = exc.args[1] if len(exc.args) > 1 else exc
        if not exc.args or exc.args[0] not in _PASSING:
            refused = (
                NullRefused if exc.args and exc.args[0] == ER.BAD_NULL_ERROR else MirrorRefused
            )
            raise refused(f"The mirror at {place} reports an error: {says}.") from exc
        if over:
            raise MirrorUnreachable(f"The mirror at {place} does not answer: {says}.") from exc

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(pymysql.MySQLError):  # it may be closed already
                self._connection.close()
            self._connection = None


def _left(deadline: float) -> float:
    """Return the seconds until a deadline; a statement that is tried at its end gets a moment."""
    return max(_PAUSE_S, deadline - monotonic())

"""One connection to the source: PyMySQL logs in and asks; afterwards the socket can be taken over for the dump."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from relay.errors import SourceUnreachable
from relay.settings import SourceSettings
from relay.source.server_errors import translated
from relay.tls import login

# The stubs make it generic, the driver does not.
if TYPE_CHECKING:
    _Connection = Connection[Cursor]
else:
    _Connection = Connection

Cell: TypeAlias = "str | int | float | None"


class _Login(_Connection):
    """PyMySQL's connection, with its socket (behind TLS, if any) to be had."""

    _sock: socket.socket

    @property
    def socket(self) -> socket.socket:
        return self._sock


class SourceConnection:
    """A logged-in connection; every failure comes out as an error of the relay."""

    def __init__(self, settings: SourceSettings) -> None:
        """Connect and log in. Raises SourceUnreachable, SourceLoginRefused, or ConfigurationError for TLS files that are none."""
        self.settings = settings
        self.place = f"{settings.host}:{settings.port}"
        arguments = login(settings)
        # Made here, so that an unknown host and a refused connection can be told from what the driver makes of them.
        connected = _connected(settings)
        try:
            self._login = _Login(
                **arguments,
                read_timeout=settings.read_timeout_seconds,
                write_timeout=settings.connect_timeout_seconds,
                defer_connect=True,
            )
            self._login.connect(connected)
        except (pymysql.MySQLError, OSError, ValueError) as exc:
            connected.close()
            raise translated(exc, f"The source at {self.place} refused the login of {settings.user!r}") from exc
        self._socket = self._login.socket

    def rows(self, sql: str, *arguments: Cell) -> Sequence[tuple[Any, ...]]:
        """All rows of a query; raises the relay's error for what the server says."""
        try:
            with self._login.cursor() as cursor:
                cursor.execute(sql, arguments or None)
                return cursor.fetchall()
        except (pymysql.MySQLError, OSError) as exc:
            raise translated(exc, f"The source at {self.place} refused {sql.split(' WHERE ', maxsplit=1)[0]!r}") from exc

    def named_rows(self, sql: str) -> list[dict[str, Any]]:
        """All rows of a statement by the names of their columns; raises the relay's error for what the server says."""
        try:
            with self._login.cursor() as cursor:
                cursor.execute(sql)
                names = [str(column[0]) for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except (pymysql.MySQLError, OSError) as exc:
            raise translated(exc, f"The source at {self.place} refused {sql!r}") from exc

    def taken_over(self) -> socket.socket:
        """The socket, for commands of our own; `rows` must not be called afterwards."""
        return self._socket

    def cut(self) -> None:
        """End the connection at once; safe from any thread, and a blocked read returns."""
        with suppress(OSError):
            # The plain socket's call: an SSL socket's would take the session away under the reading thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the socket back; only the thread that reads may call it."""
        self.cut()
        with suppress(pymysql.MySQLError):
            self._login.close()


def _connected(settings: SourceSettings) -> socket.socket:
    place = f"{settings.host}:{settings.port}"
    try:
        connected = socket.create_connection((settings.host, settings.port), settings.connect_timeout_seconds)
    except socket.gaierror as exc:
        raise SourceUnreachable(f"The host name {settings.host!r} of the source is not known: {exc.strerror}.") from exc
    except OSError as exc:
        raise SourceUnreachable(f"The source at {place} cannot be reached: {exc.strerror or exc}.") from exc
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connected

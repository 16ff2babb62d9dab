"""One connection to the source: PyMySQL logs in and runs queries; then the relay may use the socket
for a dump.
"""

import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from relay.errors import SourceUnreachable
from relay.settings import SourceSettings
from relay.source.protocol.row_packets import read_rows
from relay.source.protocol.server_errors import translated
from relay.tls import login

# The stubs make it generic, the driver does not.
if TYPE_CHECKING:

    class _Connection(Connection[Cursor]):
        _rfile: Any
        _read_packet: Any
        _execute_command: Any

        def _force_close(self) -> None: ...
else:
    _Connection = Connection

_ALERT_S: Final = 0.2
Cell: TypeAlias = "str | int | float | None"


class _Login(_Connection):
    """PyMySQL's connection, with access to its socket (after the TLS handshake, if any)."""

    _sock: socket.socket
    alert: ssl.SSLError | None = None
    """The server's TLS alert before it closed the connection that the driver was writing to."""

    @property
    def socket(self) -> socket.socket:
        return self._sock

    def _force_close(self) -> None:
        """Close.

        A server of TLS 1.3 refuses a certificate after the handshake, so its alert may be unread
        when a write fails.
        """
        self.alert = self.alert or _unread_alert(self._sock)
        super()._force_close()


class SourceConnection:
    """A logged-in connection, whose failures are raised as errors of the relay."""

    def __init__(self, settings: SourceSettings) -> None:
        """Connect and log in.

        Raises SourceUnreachable, SourceLoginRefused, or ConfigurationError for invalid TLS files.
        """
        self.settings = settings
        self.address = f"{settings.host}:{settings.port}"
        arguments = login(settings)
        doing = f"The source at {self.address} refused the login of {settings.user!r}"
        # Connected here, because the driver raises one error for an unknown host, a refused
        # connection and others.
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
            alert = self._login.alert if hasattr(self, "_login") else None
            raise translated(alert or exc, doing, tls_legacy=settings.tls_legacy) from exc
        self._socket = self._login.socket

    def rows(self, sql: str, *arguments: Cell) -> Sequence[tuple[Any, ...]]:
        """Return all rows of a query, with `arguments` for its placeholders. Raises the server's
        errors as errors of the relay.
        """
        try:
            with self._login.cursor() as cursor:
                cursor.execute(sql, arguments or None)
                return cursor.fetchall()
        except (pymysql.MySQLError, OSError) as exc:
            raise translated(
                exc, f"The source at {self.address} refused {sql.split(' WHERE ', maxsplit=1)[0]!r}"
            ) from exc

    def raw_rows(self, sql: str) -> Sequence[tuple[bytes | None, ...]]:
        """Return all rows of a query as the bytes that the server sent; None is NULL.

        Raises the server's errors as errors of the relay.
        """
        try:
            return read_rows(self._login, sql)
        except ValueError as exc:
            self.cut()
            raise SourceUnreachable(f"The source at {self.address} sent no row: {exc}.") from exc
        except (pymysql.MySQLError, OSError) as exc:
            raise translated(
                exc, f"The source at {self.address} refused {sql.split(' WHERE ', maxsplit=1)[0]!r}"
            ) from exc

    def named_rows(self, sql: str) -> list[dict[str, Any]]:
        """Return all rows of a statement as dictionaries by column name.

        Raises the server's errors as errors of the relay.
        """
        try:
            with self._login.cursor() as cursor:
                cursor.execute(sql)
                names = [str(column[0]) for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except (pymysql.MySQLError, OSError) as exc:
            raise translated(exc, f"The source at {self.address} refused {sql!r}") from exc

    def taken_over(self) -> socket.socket:
        """Return the connection's socket, for commands that the relay sends itself. `rows` must not
        be called afterwards.
        """
        return self._socket

    def cut(self) -> None:
        """End the connection at once, so that a blocked read returns. Any thread may call it."""
        with suppress(OSError):
            # The plain socket's call: an SSL socket's would take the session away under the reading
            # thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection. Only the thread that reads may call it."""
        self.cut()
        with suppress(pymysql.MySQLError):
            self._login.close()


def _unread_alert(connected: object) -> ssl.SSLError | None:
    if not isinstance(connected, ssl.SSLSocket):
        return None
    try:
        connected.settimeout(_ALERT_S)
        connected.recv(1)
    except ssl.SSLError as exc:
        return exc if exc.reason and "ALERT" in exc.reason else None
    except (OSError, ValueError):
        return None
    return None


def _connected(settings: SourceSettings) -> socket.socket:
    address = f"{settings.host}:{settings.port}"
    try:
        connected = socket.create_connection(
            (settings.host, settings.port), settings.connect_timeout_seconds
        )
    except socket.gaierror as exc:
        raise SourceUnreachable(
            f"The host name {settings.host!r} of the source is not known: {exc.strerror}."
        ) from exc
    except OSError as exc:
        raise SourceUnreachable(
            f"The source at {address} cannot be reached: {exc.strerror or exc}."
        ) from exc
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, size_bytes in (
        (socket.SO_RCVBUF, settings.receive_buffer_bytes),
        (socket.SO_SNDBUF, settings.send_buffer_bytes),
    ):
        if size_bytes is not None:
            connected.setsockopt(socket.SOL_SOCKET, option, size_bytes)
    return connected

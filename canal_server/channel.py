"""Packets over one TCP connection, with limits of size and time."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from canal_server.errors import BadPacket
from canal_server.wire import FRAME_HEADER, framed, length_of

LARGEST_REQUEST: Final = 65_536
"""Size in bytes of the largest packet that a client may send. Its longest part is a filter."""
_SLICE_SECONDS: Final = 0.5
_FRAME_SECONDS: Final = 10.0
"""A client must send the rest of a packet within this time."""
_LINGER_SECONDS: Final = 1.0
_KEEP_ALIVE_SECONDS: Final = 60
_PROBES: Final = 3


class Closed(Exception):
    """The connection ended. The text is the reason; empty if the client closed it."""


class Channel:
    """A connected socket. It must be used by one thread; only `cut` may be called by others."""

    def __init__(self, connection: socket.socket, send_seconds: float) -> None:
        self._socket = connection
        self._send_seconds = send_seconds
        self._closing = threading.Lock()
        self._set_options()

    def read(self, seconds: float, idle: Callable[[], None]) -> bytes:
        """Return the next packet. While the client sends nothing, `idle` is called twice a second.

        Raises Closed at the end of the connection or after `seconds`, BadPacket for a packet that
        is too large or not complete in time.
        """
        header = self._exactly(1, time.monotonic() + seconds, idle)
        if header is None:
            raise Closed(f"no request in {seconds:g} s")
        end = time.monotonic() + _FRAME_SECONDS
        rest = self._exactly(FRAME_HEADER - 1, end, idle)
        body = None if rest is None else self._body(header + rest, end, idle)
        if body is None:
            raise BadPacket(f"A packet is not complete {_FRAME_SECONDS:g} s after its beginning.")
        return body

    def send(self, packet: bytes) -> None:
        """Send a packet. Raises Closed if the connection has ended."""
        self._socket.settimeout(self._send_seconds)
        try:
            self._socket.sendall(framed(packet))
        except OSError as exc:
            raise Closed(f"an answer could not be sent: {exc}") from exc

    def is_gone(self) -> bool:
        """Return whether the client has closed the connection and no unread data remains."""
        self._socket.settimeout(0)
        try:
            return not self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def end(self) -> None:
        """Close the connection when the client has received the last answer, at latest after a
        second.
        """
        end = time.monotonic() + _LINGER_SECONDS
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            self._socket.settimeout(_LINGER_SECONDS)
            while time.monotonic() < end and self._socket.recv(LARGEST_REQUEST):
                pass
        self.close()

    def close(self) -> None:
        """Close the connection immediately."""
        with self._closing:
            self._socket.close()

    def cut(self) -> None:
        """Shut the connection down, so that its thread closes it. Thread-safe."""
        with self._closing, suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _set_options(self) -> None:
        """Send small packets without delay, and detect a client whose machine does not answer any
        more.
        """
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, _KEEP_ALIVE_SECONDS),
            (socket.TCP_KEEPINTVL, _KEEP_ALIVE_SECONDS // _PROBES),
            (socket.TCP_KEEPCNT, _PROBES),
        ):
            self._socket.setsockopt(socket.IPPROTO_TCP, option, value)

    def _body(self, header: bytes, end: float, idle: Callable[[], None]) -> bytes | None:
        return self._exactly(length_of(header, LARGEST_REQUEST), end, idle)

    def _exactly(self, size: int, end: float, idle: Callable[[], None]) -> bytes | None:
        """Return so many bytes; None after the moment `end` (`time.monotonic`). Raises Closed."""
        found = bytearray()
        while len(found) < size:
            self._socket.settimeout(_SLICE_SECONDS)
            try:
                part = self._socket.recv(size - len(found))
            except TimeoutError:
                idle()
                if time.monotonic() >= end:
                    return None
                continue
            except OSError as exc:
                raise Closed(str(exc)) from exc
            if not part:
                raise Closed("in a packet" if found else "")
            found += part
        return bytes(found)

"""Opens kazoo's connections, with TLS by the relay's settings and with the current files and
secrets.
"""

import select
import socket
import ssl
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler

from relay.settings import ZooKeeperTlsSettings


class Connections(SequentialThreadingHandler):
    """Starts kazoo's threads and opens its connections."""

    def __init__(self, tls: ZooKeeperTlsSettings | None, before: Callable[[], None]) -> None:
        """`before` is called in kazoo's thread before each connection."""
        super().__init__()
        self._tls = tls
        self._before = before

    def create_connection(
        self,
        address: tuple[str, int],
        hostname: str | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> socket.socket:
        """Connect, with TLS where the settings ask for it. Raises OSError."""
        self._before()
        plain: socket.socket = super().create_connection(address, timeout=timeout)
        if self._tls is None:
            return plain
        try:
            return _context(self._tls).wrap_socket(plain, server_hostname=hostname or address[0])
        except BaseException:
            plain.close()
            raise

    def select(
        self,
        rlist: Sequence[socket.socket],
        wlist: Sequence[socket.socket],
        xlist: Sequence[socket.socket],
        timeout: float | None = None,
    ) -> tuple[list[socket.socket], list[socket.socket], list[socket.socket]]:
        """Wait until a socket can be read or written; return the readable ones, the writable ones,
        and an empty list.

        kazoo calls it four times for each request. kazoo's own implementation makes a new `epoll`
        at each call, which took half of a request's CPU time. `timeout` in seconds, None: without a
        limit. Raises ValueError for a closed socket.
        """
        if rlist and wlist:
            return super().select(rlist, wlist, xlist, timeout)
        if wlist:
            return [], _ready(wlist, select.POLLOUT, timeout), []
        return _ready(rlist, select.POLLIN, timeout), [], []


def _ready(
    sockets: Sequence[socket.socket], event: int, timeout: float | None
) -> list[socket.socket]:
    """Return the sockets with the event, an error or an end; wait for one."""
    poll = select.poll()
    by_number = {each.fileno(): each for each in sockets}
    for number in by_number:
        poll.register(number, event)
    found = poll.poll(None if timeout is None else ceil(max(timeout, 0) * 1000))
    if any(events & select.POLLNVAL for _, events in found):
        raise ValueError("a socket was closed during the wait for it")
    return [by_number[number] for number, _ in found]


def _context(tls: ZooKeeperTlsSettings) -> ssl.SSLContext:
    """Return the TLS context. Raises OSError for files that cannot be read, or contain no
    certificate or key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Python 3.13 refuses certificates without certain extensions by default (VERIFY_X509_STRICT).
    # Self-signed certificates of servers often lack these.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.check_hostname = tls.mode == "verify_identity"
    context.verify_mode = ssl.CERT_NONE if tls.mode == "required" else ssl.CERT_REQUIRED
    try:
        if tls.ca is not None:
            context.load_verify_locations(tls.ca)
        elif tls.mode != "required":
            context.load_default_certs()
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key, password=_no_passphrase)
    except (OSError, ValueError) as exc:
        files = ", ".join(str(file) for file in (tls.ca, tls.cert, tls.key) if file is not None)
        raise ssl.SSLError(0, f"[SSL: FILES] {files}: {exc}") from exc
    return context


def _no_passphrase() -> str:
    """Return an empty passphrase. Without this function OpenSSL would ask at the terminal."""
    raise ValueError("the key has a passphrase")

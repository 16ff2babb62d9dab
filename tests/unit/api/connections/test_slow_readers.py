"""Clients that read nothing, or close one direction, over real sockets: others are served.

No store and no user is there.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Final

import httpx
import psutil
import pytest

from api.middleware import connections
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

LARGE: Final = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
EVENTS: Final = (
    f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
).encode()
_SMALL_BUFFER: Final = 4096
_PIPELINED: Final = 40
"""So many large answers fit no buffer of a socket on loopback."""
_STREAMS: Final = 100


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "WRITE_SECONDS", 0.5)
        with admin_client(admin_settings("127.0.0.1:1", "none")) as client:
            yield client


def opened(admin: httpx.Client) -> socket.socket:
    """Connect with a small buffer, so that the server has to keep what is not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", admin.base_url.port))
    return connection


def at_server(admin: httpx.Client, client: socket.socket) -> bool:
    """Return whether the server still has its end of a client's connection open."""
    mine = client.getsockname()[1]
    return any(
        each.laddr.port == admin.base_url.port and each.raddr[1:] == (mine,)
        for each in psutil.Process().net_connections("tcp")
        if each.status in (psutil.CONN_ESTABLISHED, psutil.CONN_CLOSE_WAIT)
    )


def is_served(admin: httpx.Client) -> bool:
    address = admin.base_url.join("/healthz")
    return httpx.get(address, trust_env=False, timeout=10).status_code == 200


def test_a_client_that_reads_no_byte_of_its_answers_is_disconnected(admin: httpx.Client) -> None:
    with opened(admin) as deaf:
        deaf.sendall(LARGE * _PIPELINED)
        assert is_served(admin)
        wait_until(lambda: not at_server(admin, deaf), "the server to close it")
        assert is_served(admin)


def test_streams_that_nobody_reads_keep_nobody_out(admin: httpx.Client) -> None:
    with ExitStack() as stack:
        streams = [stack.enter_context(opened(admin)) for _ in range(_STREAMS)]
        for each in streams:
            each.sendall(EVENTS)
        assert all(is_served(admin) for _ in range(5))
        assert streams[-1].recv(15) == b"HTTP/1.1 200 OK"
        assert at_server(admin, streams[0])


@pytest.mark.parametrize("sent", [b"", b"GET /hea", EVENTS], ids=["nothing", "half", "a stream"])
def test_a_half_closed_connection_is_closed_at_once(admin: httpx.Client, sent: bytes) -> None:
    with opened(admin) as half:
        half.sendall(sent)
        if sent == EVENTS:
            assert half.recv(15) == b"HTTP/1.1 200 OK"
        half.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while half.recv(65_536):
                pass
        wait_until(lambda: not at_server(admin, half), "the server to close its end", 5)
    assert is_served(admin)

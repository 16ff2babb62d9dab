"""What the admin does with bodies and connections of strangers, over real sockets.

No store and no user is there.
"""

import http.client
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from time import monotonic

import httpx
import psutil
import pytest
from structlog.testing import capture_logs

from api import guard
from api.composition import access_parts
from api.middleware import connections
from relay.model.accounts import Accounts
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

ACCEPT_LOSS = "/api/v1/instances/x/failover/accept-loss"
DRY_RUN = "/api/v1/mappings/dry-run"


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "HEAD_SECONDS", 1.0)
        patch.setattr(guard, "BODY_SECONDS", 1.0)
        patch.setattr(access_parts, "_accounts", lambda _session, _store: Accounts())
        with admin_client(admin_settings("127.0.0.1:1", "none")) as client:
            yield client


def opened(admin: httpx.Client) -> socket.socket:
    port = admin.base_url.port
    assert port is not None
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def answer(connection: socket.socket) -> bytes:
    """What comes until the server closes."""
    received = b""
    while part := connection.recv(65_536):
        received += part
    return received


def head(path: str, *lines: str) -> bytes:
    return "\r\n".join(
        [
            f"POST {path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Content-Type: application/json",
            *lines,
            "",
            "",
        ]
    ).encode()


@pytest.mark.parametrize("size", ["Content-Length: 400000000", "Transfer-Encoding: chunked"])
def test_without_the_token_no_byte_of_the_body_is_waited_for(
    admin: httpx.Client, size: str
) -> None:
    with opened(admin) as connection:
        connection.sendall(head(ACCEPT_LOSS, size))
        assert b" 401 " in answer(connection).splitlines()[0]


@pytest.mark.parametrize("path", [ACCEPT_LOSS, DRY_RUN])
def test_an_announced_size_is_refused_at_once(admin: httpx.Client, path: str) -> None:
    with opened(admin) as connection:
        connection.sendall(head(path, f"Authorization: Bearer {TOKEN}", "Content-Length: 6000001"))
        received = answer(connection)
    assert b" 413 " in received.splitlines()[0]
    assert b"BODY_TOO_LARGE" in received


@pytest.mark.parametrize("size", [7_000_000, 20_000_000])
def test_a_client_that_sends_everything_first_reads_the_answer(
    admin: httpx.Client, size: int
) -> None:
    assert [admin.post(DRY_RUN, content=b" " * size).status_code for _ in range(5)] == [413] * 5


def test_chunks_are_counted(admin: httpx.Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", admin.base_url.port, timeout=20)
    connection.putrequest("POST", DRY_RUN)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    sent = 0
    try:
        while sent < 400_000_000:
            connection.send(b"10000\r\n" + b"1" * 65_536 + b"\r\n")
            sent += 65_536
    except OSError:
        pass  # the server has closed
    assert sent < 100_000_000
    connection.close()


def test_an_unknown_address_reads_no_body(admin: httpx.Client) -> None:
    with opened(admin) as connection:
        connection.sendall(head("/nowhere", "Content-Length: 10"))
        assert b" 404 " in connection.recv(65_536).splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize("path", [DRY_RUN, "/login", "/api/v1/session"])
def test_a_body_that_does_not_come_is_408(admin: httpx.Client, path: str) -> None:
    with opened(admin) as connection:
        connection.sendall(head(path, "Content-Length: 10") + b"{")
        received = answer(connection)
    assert b" 408 " in received.splitlines()[0]


@pytest.mark.parametrize(
    ("path", "size", "piece"),
    [
        (DRY_RUN, "Content-Length: 1000", b" "),
        ("/login", "Content-Length: 1000", b" "),
        ("/api/v1/session", "Transfer-Encoding: chunked", b"1\r\n \r\n"),
    ],
)
def test_a_body_that_trickles_is_cut_when_its_time_is_over(
    admin: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str, size: str, piece: bytes
) -> None:
    monkeypatch.setattr(guard, "LINGER_SECONDS", 0.2)
    start = monotonic()
    with opened(admin) as connection:
        connection.settimeout(0.1)
        connection.sendall(head(path, size))
        received = b""
        while not received:
            assert monotonic() - start < 10
            with suppress(TimeoutError):
                received = connection.recv(65_536)
            if not received:
                connection.sendall(piece)
        assert monotonic() - start >= guard.BODY_SECONDS * 0.9
        assert b" 408 " in received.splitlines()[0]
        assert b"BODY_TOO_SLOW" in received + _rest(connection)
        wait_until(lambda: _is_closed(connection, piece), "the server to close the connection")


def _rest(connection: socket.socket) -> bytes:
    """What comes until the server closes or waits for further bytes of the body."""
    received = b""
    while True:
        try:
            part = connection.recv(65_536)
        except (TimeoutError, ConnectionError):
            return received
        if not part:
            return received
        received += part


def _is_closed(connection: socket.socket, piece: bytes) -> bool:
    try:
        connection.sendall(piece)
        return connection.recv(65_536) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_slow_sign_ins_hold_up_no_other_one(
    admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 20.0)
    wrong = {"name": "ann", "password": "wrong"}
    with ExitStack() as stack:
        slow = [stack.enter_context(opened(admin)) for _ in range(100)]
        for connection in slow:
            connection.sendall(head("/api/v1/session", "Content-Length: 10") + b"{")
        assert admin.post("/api/v1/session", json=wrong).status_code == 401
        for connection in slow:  # each of them still waits for its body
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)


@pytest.mark.parametrize("begun", [b"", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_half_a_head_is_closed_also_when_bytes_trickle(admin: httpx.Client, begun: bytes) -> None:
    start = monotonic()
    with opened(admin) as connection:
        connection.settimeout(0.3)
        connection.sendall(begun)
        while True:
            try:
                assert connection.recv(1) == b""
                break
            except TimeoutError:
                assert monotonic() - start < 10
                if begun:
                    connection.sendall(b"x")
            except ConnectionError:
                break
    assert monotonic() - start >= 0.9


@pytest.mark.parametrize(
    ("sent", "number"),
    [(b"", 5_000), (head(DRY_RUN, "Content-Length: 10"), 1_500)],
    ids=["nothing", "a head without its body"],
)
def test_thousands_of_connections_keep_nobody_out(
    admin: httpx.Client, monkeypatch: pytest.MonkeyPatch, sent: bytes, number: int
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 60.0)  # only the limit ends them
    monkeypatch.setattr(guard, "BODY_SECONDS", 60.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard - 1_500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 1_500), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for each in range(wanted):
            stranger = stack.enter_context(opened(admin))
            with suppress(OSError):  # closed by then
                stranger.sendall(sent)
            if each % 1_000 == 0:
                assert (
                    httpx.get(
                        admin.base_url.join("/healthz"), trust_env=False, timeout=10
                    ).status_code
                    == 200
                )
        assert (
            httpx.get(admin.base_url.join("/healthz"), trust_env=False, timeout=10).status_code
            == 200
        )
        wait_until(
            lambda: _open_at_server(admin) <= connections.MOST_CONNECTIONS,
            "the strangers' connections to be closed",
        )
    assert wanted > 2 * connections.MOST_CONNECTIONS, (
        "too few files may be open here to prove anything"
    )


def _open_at_server(admin: httpx.Client) -> int:
    port = admin.base_url.port
    own = psutil.Process().net_connections("tcp")
    return sum(each.status == psutil.CONN_ESTABLISHED and each.laddr.port == port for each in own)


def test_a_connection_takes_one_request_after_the_other(admin: httpx.Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", admin.base_url.port, timeout=20)
    connection.connect()
    first = connection.sock
    for _ in range(3):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
    assert connection.sock is first
    connection.close()


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/instances", "/docs", "/nowhere"])
def test_a_strangers_name_is_refused_everywhere(admin: httpx.Client, path: str) -> None:
    answer = admin.get(path, headers={"Host": "evil.example:8080"})
    assert (answer.status_code, answer.json()["code"]) == (421, "HOST_UNKNOWN")
    assert admin.get("/healthz", headers={"Host": "localhost"}).status_code == 200


def test_the_value_of_a_dead_letter_needs_the_token(admin: httpx.Client) -> None:
    path = "/api/v1/instances/x/dead-letters/1-1/value"
    assert admin.get(path, headers={"Authorization": ""}).status_code == 401


def test_refused_requests_are_logged_without_what_they_sent(admin: httpx.Client) -> None:
    with capture_logs() as logs:
        admin.post(ACCEPT_LOSS, json={}, headers={"Authorization": "Bearer guess"})
    (refused,) = [each for each in logs if each["event"] == "request_refused"]
    assert (refused["client"], refused["method"], refused["path"]) == (
        "127.0.0.1",
        "POST",
        ACCEPT_LOSS,
    )
    assert "guess" not in str(logs)


def test_refused_requests_are_counted(admin: httpx.Client) -> None:
    admin.post(ACCEPT_LOSS, json={}, headers={"Authorization": ""})
    counted = admin.get("/metrics").text
    assert 'route="/api/v1/instances/{name}/failover/accept-loss",status="401"' in counted

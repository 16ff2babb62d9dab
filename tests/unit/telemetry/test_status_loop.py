"""The status server without threads: asked over loopback while its event loop runs."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from http import HTTPStatus

import httpx
import pytest

from relay.errors import ConfigurationError
from relay.telemetry import Reply, StatusLoop


async def answer(path: str) -> Reply:
    if path == "/bug":
        raise ValueError("unheard of")
    if path == "/slow":
        await asyncio.sleep(60)
    return Reply(HTTPStatus.OK, "text/plain", path.encode() * 100_000, {"X-Own": "yes"})


@pytest.fixture
def server() -> Iterator[StatusLoop]:
    made = StatusLoop("127.0.0.1", 0, ["relay-1"], answer)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(made.start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield made
    loop.call_soon_threadsafe(made.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    open_requests = asyncio.all_tasks(loop)
    for each in open_requests:
        each.cancel()
    loop.run_until_complete(asyncio.wait(open_requests) if open_requests else asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


@pytest.fixture
def client(server: StatusLoop) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=10) as client:
        yield client


def raw(server: StatusLoop, request: bytes) -> bytes:
    """The first line of the answer to these bytes."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        return connection.makefile("rb").readline()


def test_a_request_gets_the_answer_of_its_path(client: httpx.Client) -> None:
    found = client.get("/metrics?x=1")
    assert (found.status_code, found.text) == (200, "/metrics" * 100_000)
    assert (found.headers["content-type"], found.headers["x-own"]) == ("text/plain", "yes")


def test_an_error_of_one_request_is_answered_and_others_go_through(client: httpx.Client) -> None:
    assert client.get("/bug").status_code == 500
    assert client.get("/metrics").status_code == 200


def test_other_methods_and_broken_requests_are_refused(
    server: StatusLoop, client: httpx.Client
) -> None:
    assert client.post("/status").status_code == 501
    assert b" 400 " in raw(server, b"nonsense\r\n\r\n")
    assert b" 400 " in raw(server, b"\r\n\r\n")
    assert raw(server, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n") == b""
    assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("relay-1:8081", 200), ("localhost", 200), ("[::1]:1", 200), ("evil.example", 421)],
)
def test_only_known_names_are_answered(client: httpx.Client, host: str, status: int) -> None:
    assert client.get("/status", headers={"Host": host}).status_code == status


def test_one_of_two_host_headers_is_not_enough(server: StatusLoop) -> None:
    request = b"GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert b" 421 " in raw(server, request)


def test_a_client_that_hangs_holds_up_nobody(server: StatusLoop, client: httpx.Client) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with (
        socket.create_connection((host, int(port))),
        socket.create_connection((host, int(port))) as slow,
    ):
        slow.sendall(b"GET /slow HTTP/1.1\r\n\r\n")
        assert client.get("/healthz").status_code == 200


def test_a_taken_port_is_a_sentence_and_a_closed_one_is_free(server: StatusLoop) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    with pytest.raises(ConfigurationError, match=r"status\.port"):
        StatusLoop("127.0.0.1", port, [], answer)
    unused = StatusLoop("127.0.0.1", 0, [], answer)
    unused.close()
    StatusLoop("127.0.0.1", int(unused.url.rsplit(":", 1)[1]), [], answer).close()

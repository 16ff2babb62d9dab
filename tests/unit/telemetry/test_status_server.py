"""The process's own answers, asked over loopback."""

import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx
import pytest

from relay.errors import ConfigurationError
from relay.telemetry import Answers, StatusServer


@dataclass
class Said:
    unhealthy: str | None = None
    unready: str | None = None
    statuses: Sequence[Mapping[str, object]] = field(default_factory=list)


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def server(said: Said) -> Iterator[StatusServer]:
    server = StatusServer(
        "127.0.0.1", 0, Answers(lambda: said.unhealthy, lambda: said.unready, lambda: said.statuses)
    )
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(server: StatusServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, trust_env=False, timeout=10) as client:
        yield client


def test_health_and_readiness_say_why_not(client: httpx.Client, said: Said) -> None:
    assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok\n")
    assert client.get("/readyz").status_code == 200
    said.unready = "No instance has started yet."
    assert (client.get("/readyz").status_code, client.get("/readyz").text) == (
        503,
        "No instance has started yet.\n",
    )
    assert client.get("/healthz").status_code == 200
    said.unhealthy = "A thread died."
    assert client.get("/healthz").status_code == 503


def test_the_status_is_a_list_of_instances(client: httpx.Client, said: Said) -> None:
    said.statuses = [{"name": "shop", "state": "RUNNING"}]
    answer = client.get("/status?pretty")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [{"name": "shop", "state": "RUNNING"}]


def test_metrics_are_served(client: httpx.Client) -> None:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE roma_published_rows_total counter" in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/status", "/nowhere"])
def test_a_strangers_name_is_refused_everywhere(client: httpx.Client, path: str) -> None:
    refused = client.get(path, headers={"Host": "evil.example:8081"})
    assert (refused.status_code, "status.hosts" in refused.text) == (421, True)


@pytest.mark.parametrize(
    "name",
    [
        "localhost",
        "127.0.0.1:1",
        "[::1]:1",
        socket.gethostname(),
        f"{socket.gethostname().upper()}:8081",
    ],
)
def test_addresses_and_the_names_of_this_machine_are_answered(
    client: httpx.Client, name: str
) -> None:
    assert client.get("/healthz", headers={"Host": name}).status_code == 200


@pytest.mark.parametrize(
    ("names", "status"), [(["relay-1"], 200), (["*"], 200), (["relay-2"], 421), ([], 421)]
)
def test_names_can_be_added(names: Sequence[str], status: int) -> None:
    server = StatusServer("127.0.0.1", 0, Answers(lambda: None, lambda: None, list), names)
    server.start()
    try:
        assert (
            httpx.get(
                f"{server.url}/healthz", headers={"Host": "relay-1:8081"}, trust_env=False
            ).status_code
            == status
        )
    finally:
        server.stop()


def test_one_of_two_host_headers_is_not_enough(server: StatusServer) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            b"GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: "
            b"close\r\n\r\n"
        )
        assert b" 421 " in connection.recv(65_536).splitlines()[0]


def test_nothing_else_is_here(client: httpx.Client) -> None:
    assert client.get("/admin").status_code == 404
    assert client.post("/status").status_code == 501


def test_a_client_that_hangs_holds_up_nobody(server: StatusServer, client: httpx.Client) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))):
        assert client.get("/healthz").status_code == 200


def test_a_taken_port_is_a_sentence(server: StatusServer) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    with pytest.raises(ConfigurationError, match=r"status\.port"):
        StatusServer("127.0.0.1", port, Answers(lambda: None, lambda: None, list))


def test_a_server_that_never_started_gives_its_port_back() -> None:
    server = StatusServer("127.0.0.1", 0, Answers(lambda: None, lambda: None, list))
    server.stop()
    again = StatusServer(
        "127.0.0.1", int(server.url.rsplit(":", 1)[1]), Answers(lambda: None, lambda: None, list)
    )
    again.stop()

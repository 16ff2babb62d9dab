"""Where the server listens, and how many connections it has. No test here reaches Kafka."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from canal_server.claims import Subscriber
from canal_server.server import CanalServer, group_of
from canal_server.wire.kinds import PacketKind
from relay.errors import ConfigurationError
from relay.settings import RelaySettings
from relay.telemetry.metrics import REGISTRY
from tests.support.clients.canal.wire_client import WireClient
from tests.support.waiting import wait_until

Serve = Callable[..., CanalServer]


def settings(**own: Any) -> RelaySettings:
    document = {
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
        "zookeeper": {"hosts": "127.0.0.1:1"},
        "canal_server": {
            "port": 0,
            "admin": "http://127.0.0.1:1",
            "destinations": [{"name": "example"}],
            **own,
        },
    }
    return RelaySettings.model_validate(document)


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def started(**own: Any) -> CanalServer:
            server = CanalServer(settings(**own))
            server.start()
            stack.callback(server.stop)
            return server

        yield started


def test_it_does_not_start_without_its_section() -> None:
    with pytest.raises(ConfigurationError, match=r"no section \[canal_server\]"):
        CanalServer(settings().model_copy(update={"canal_server": None}))


@pytest.mark.parametrize("password", [None, ""])
def test_it_does_not_listen_beyond_loopback_without_a_password(password: str | None) -> None:
    with pytest.raises(ConfigurationError, match=r"canal_server\.password is not set"):
        CanalServer(settings(host="0.0.0.0", password=password))  # noqa: S104  # it is refused


def test_it_listens_beyond_loopback_with_a_password(serve: Serve) -> None:
    server = serve(host="0.0.0.0", user="canal", password="secret")  # noqa: S104
    with WireClient.connected(("127.0.0.1", server.address[1])) as client:
        assert client.log_in("canal", "secret").error_code == 0


def test_a_port_in_use_is_named() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(ConfigurationError, match="cannot listen on"),
    ):
        CanalServer(settings(port=other.getsockname()[1]))


def test_one_connection_too_many_is_refused_and_an_end_makes_room(serve: Serve) -> None:
    server = serve(max_connections=2)
    first, second = (WireClient.connected(server.address) for _ in range(2))
    assert [each.log_in().error_code for each in (first, second)] == [0, 0]
    with WireClient.connected(server.address) as third:
        assert "2 connections" in third.ack().error_message
        assert third.is_closed()
    first.socket.close()

    def has_room() -> bool:
        with WireClient.connected(server.address) as another:
            return bool(another.packet().type == PacketKind.HANDSHAKE)

    wait_until(has_room, "room for another connection")
    second.socket.close()


def test_clients_log_in_and_are_served_while_others_hold_connections_without_a_login(
    serve: Serve,
) -> None:
    server = serve(max_connections=2, max_logins=3)
    with ExitStack() as stack:

        def connected() -> WireClient:
            return stack.enter_context(WireClient.connected(server.address))

        client = connected()
        assert client.log_in().error_code == 0
        idle = [connected() for _ in range(8)]
        for each in idle:
            each.received(PacketKind.HANDSHAKE)
        assert all(each.is_closed() for each in idle[:5]), "the oldest ones"
        assert connected().log_in().error_code == 0
        assert "ADMIN_UNREACHABLE" in client.subscribe().error_message
        assert "2 connections" in connected().ack().error_message


def test_a_stop_ends_idle_connections_and_their_count(serve: Serve) -> None:
    server = serve()
    with WireClient.connected(server.address) as client:
        client.log_in()
        assert REGISTRY.get_sample_value("roma_canal_server_connections") == 1
        server.stop()
        assert client.is_closed()
    assert REGISTRY.get_sample_value("roma_canal_server_connections") == 0


def test_an_admin_that_is_away_is_named_to_a_new_client(serve: Serve, tmp_path: Path) -> None:
    server = serve(cache=str(tmp_path))
    with WireClient.connected(server.address) as client:
        client.log_in()
        assert "ADMIN_UNREACHABLE" in client.subscribe().error_message


def test_each_client_id_has_a_group_of_its_own() -> None:
    assert group_of("prod", Subscriber("example", "1001")) == "prod.canal.example.1001"


def test_the_command_names_a_wrong_file(tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text('[kafka]\nbootstrap_servers = "x:1"\n[zookeeper]\nhosts = "x:1"\n')
    command = [sys.executable, "-m", "canal_server", "--config", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 2
    assert "no section [canal_server]" in ran.stderr

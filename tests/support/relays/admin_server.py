"""A real admin on loopback, in a thread of the test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from api.server import AdminServer, make_server
from relay.settings import RelaySettings
from tests.support.relays.scraping import NO_CERTIFICATES
from tests.support.waiting import wait_until

TOKEN = "the-token"


def admin_settings(hosts: str, installation: str, **more: object) -> RelaySettings:
    """Make settings for an admin.

    The file must have a Kafka section; nothing connects to it.
    """
    document = {
        "installation": installation,
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
        "zookeeper": {"hosts": hosts, "session_timeout_seconds": 4},
        "api": {"port": 0, "token": TOKEN},
    }
    return RelaySettings.model_validate({**document, **more})


@contextmanager
def admin_client(settings: RelaySettings, port: int = 0) -> Iterator[httpx.Client]:
    """Serve an admin, at a free port unless one is given, and open a client that carries the
    token.
    """
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with (
        serving(settings, port) as server,
        httpx.Client(
            base_url=server.url,
            headers=headers,
            trust_env=False,
            timeout=30,
            verify=NO_CERTIFICATES,
        ) as client,
    ):
        yield client


@contextmanager
def serving(settings: RelaySettings, port: int = 0) -> Iterator[AdminServer]:
    """Context manager: serve an admin."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = make_server(settings, listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="admin")
        thread.start()
        try:
            wait_until(lambda: server.started, "the admin to start")
            yield server
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()

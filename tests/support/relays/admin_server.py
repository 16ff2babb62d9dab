"""A real admin on loopback, in a thread of the test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from api import app
from api.composition import shared
from api.server import AdminServer, make_server
from relay.operations import highest_recorded_set
from relay.settings import RelaySettings
from tests.support.relays.scraping import NO_CERTIFICATES
from tests.support.waiting import wait_until

TOKEN = "the-token"
NO_KAFKA = "127.0.0.1:1"
"""The broker address of `admin_settings`, on which nothing listens."""


def admin_settings(hosts: str, installation: str, **more: object) -> RelaySettings:
    """Make settings for an admin.

    The file must have a Kafka section; nothing connects to it.
    """
    document = {
        "installation": installation,
        "kafka": {"bootstrap_servers": NO_KAFKA},
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
            timeout=60,
            verify=NO_CERTIFICATES,
        ) as client,
    ):
        yield client


@contextmanager
def serving(settings: RelaySettings, port: int = 0) -> Iterator[AdminServer]:
    """Context manager: serve an admin. It saves mappings also without Kafka, and waits for a broker
    that is not there for a second only, at its end not at all.
    """
    with (
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("127.0.0.1", port)) as listener,
    ):
        patch.setattr(shared, "highest_recorded_set", _recorded)
        if settings.kafka.bootstrap_servers == NO_KAFKA:
            patch.setattr(app, "_AUDIT_SECONDS", 0.0)
            patch.setattr("relay.kafka.topics._REQUEST_SECONDS", 1.0)
        server = make_server(settings, listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="admin")
        thread.start()
        try:
            wait_until(lambda: server.started, "the admin to start")
            yield server
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


def _recorded(settings: RelaySettings) -> int:
    """Return the highest number of a set in position records: 0 without Kafka."""
    return 0 if settings.kafka.bootstrap_servers == NO_KAFKA else highest_recorded_set(settings)

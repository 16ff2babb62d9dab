"""A connection over a pair of sockets, with a session that needs no Kafka."""

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest

from canal_server.channel import Channel
from canal_server.claims import Claims, Subscriber
from canal_server.connection import Connection
from canal_server.logins import Logins
from canal_server.subscriber_feed import Batch
from relay.settings import CanalServerSettings
from roma_client.errors import BatchUnknown
from tests.support.clients.canal.wire_client import WireClient


class FakeSession:
    """Batches 1, 2, 3, … with one entry each; acknowledged in order."""

    def __init__(self, interrupted: Callable[[], bool]) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.interrupted = interrupted
        self.out: deque[int] = deque()
        self.last = 0
        self.waits = False
        self.closed = threading.Event()
        self.asked = threading.Event()

    def subscribe(self, bound: str, wanted: str) -> None:
        self.calls.append(("subscribe", bound, wanted))

    def unsubscribe(self) -> None:
        self.calls.append(("unsubscribe",))

    def get(self, size: int, timeout_seconds: float | None) -> Batch:
        self.calls.append(("get", size, timeout_seconds))
        self.asked.set()
        while self.waits and not self.interrupted():
            threading.Event().wait(0.01)
        if self.interrupted():
            return Batch(-1, [])
        self.last += 1
        self.out.append(self.last)
        return Batch(self.last, [b"entry"])

    def ack(self, batch_id: int) -> None:
        self.calls.append(("ack", batch_id))
        if not self.out or self.out[0] != batch_id:
            raise BatchUnknown(f"Batch {batch_id} is not the first.")
        self.out.popleft()

    def rollback(self, batch_id: int) -> None:
        self.calls.append(("rollback", batch_id))
        self.out.clear()

    def keep(self) -> None:
        pass

    def close(self) -> None:
        self.closed.set()


class World:
    """Connections that share claims and a stop event."""

    def __init__(self, stack: ExitStack, settings: CanalServerSettings) -> None:
        self.settings = settings
        self.stop = threading.Event()
        self.sessions: list[FakeSession] = []
        self.waits = False
        self.logins = Logins(settings.max_connections, settings.max_logins)
        self._places = Claims()
        self._stack = stack
        self._threads: list[threading.Thread] = []

    def connect(self) -> WireClient:
        ours, theirs = socket.socketpair(socket.AF_UNIX)
        connection = Connection(
            PlainChannel(ours, self.settings.send_seconds),
            "peer",
            self.settings,
            self._places,
            self._session,
            self.stop,
            self.logins,
        )
        thread = threading.Thread(target=connection.run)
        thread.start()
        self._threads.append(thread)
        return self._stack.enter_context(WireClient(theirs))

    def subscribed(self) -> WireClient:
        client = self.connect()
        assert client.log_in().error_code == 0
        assert client.subscribe().error_code == 0
        return client

    def end(self) -> None:
        self.stop.set()
        for each in self._threads:
            each.join(20)
            assert not each.is_alive()

    def _session(self, _place: Subscriber, interrupted: Callable[[], bool]) -> Any:
        session = FakeSession(interrupted)
        session.waits = self.waits
        self.sessions.append(session)
        return session


class PlainChannel(Channel):
    """A channel of a pair of sockets, which have no options of TCP."""

    def _set_options(self) -> None:
        pass


class NewWorld(Protocol):
    def __call__(self, **settings: Any) -> World: ...


@pytest.fixture
def new_world() -> Iterator[NewWorld]:
    worlds: list[World] = []
    with ExitStack() as stack:

        def make(**settings: Any) -> World:
            own = {"destinations": [{"name": "example", "filter": "shop\\..*"}], **settings}
            worlds.append(World(stack, CanalServerSettings.model_validate(own)))
            return worlds[-1]

        yield make
    for each in worlds:
        each.end()

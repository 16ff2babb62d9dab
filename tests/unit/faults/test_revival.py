"""A server that one round leaves ended or paused is there for the next one."""

from typing import Any

import pytest

from deploy.embedded import ServerProcess
from deploy.embedded.errors import ServerDied
from tools.faults.stage import Servers


class FakeServer(ServerProcess):
    """A server without a process."""

    def __init__(self, name: str, *, running: bool) -> None:
        self.name = name  # type: ignore[misc]
        self.done: list[str] = []
        self.is_running = running
        self.breaks = False

    @property
    def running(self) -> bool:
        return self.is_running

    def resume(self) -> None:
        self.done.append("resumed")

    def start(self) -> Any:
        if self.breaks:
            raise ServerDied(f"{self.name} ended")
        self.done.append("started")
        self.is_running = True
        return self

    def close(self) -> None: ...

    fetch = _prepare = _command = _answers = address = None  # type: ignore[assignment]


def test_ended_servers_are_started_and_paused_ones_resumed_before_a_round() -> None:
    servers = Servers()
    broker, database = FakeServer("kafka", running=False), FakeServer("mariadb", running=True)
    pair = [FakeServer("master", running=True), FakeServer("replica", running=False)]
    vars(servers).update(broker=broker, database=database, pair=pair)
    assert servers.start_again() == ["kafka", "replica"]
    assert [each.done for each in (broker, database, *pair)] == [
        ["started"],
        ["resumed"],
        ["resumed"],
        ["started"],
    ]
    assert servers.start_again() == []


def test_a_server_that_does_not_start_again_ends_the_stream_by_name() -> None:
    servers = Servers()
    broker = FakeServer("kafka", running=False)
    broker.breaks = True
    vars(servers).update(broker=broker)
    with pytest.raises(ServerDied, match="kafka ended"):
        servers.start_again()

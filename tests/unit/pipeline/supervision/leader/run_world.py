"""Kafka and ZooKeeper in memory for relays that lead one instance, and scripts of what happens."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import pytest

from relay.model.change import StreamItem
from relay.model.records.position_record import PositionRecord
from tests.unit.ha.memory_zookeeper import MemorySession, MemoryZooKeeper
from tests.unit.pipeline.checkpoint.test_commit_steps import RECORD, begin, row, transaction
from tests.unit.pipeline.supervision.leader.memory_kafka import MemoryKafka
from tests.unit.pipeline.supervision.leader.run_fakes import Relay, put

ONE: Final[list[StreamItem]] = [*transaction(1, 10)]
TWO: Final[list[StreamItem]] = [*transaction(1, 10), *transaction(2, 20, 21)]


class World:
    """Kafka and ZooKeeper in memory, for relays that lead one instance."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, record: PositionRecord | None = RECORD
    ) -> None:
        self._monkeypatch = monkeypatch
        self.kafka = MemoryKafka(record)
        self.zookeeper = MemoryZooKeeper()

    def relay(
        self, items: list[StreamItem] = TWO, transaction: Mapping[str, object] | None = None
    ) -> Relay:
        session = MemorySession(self.zookeeper)
        return Relay(self._monkeypatch, self.kafka, session, items, transaction)

    def leader(
        self, items: list[StreamItem] = TWO, transaction: Mapping[str, object] | None = None
    ) -> Relay:
        relay = self.relay(items, transaction)
        assert relay.take_leadership()
        return relay

    @property
    def rows(self) -> int:
        """Rows that consumers see."""
        return sum(each.count("shop") for each in self.kafka.topics())

    @property
    def committed_to(self) -> int:
        assert self.kafka.record is not None
        return self.kafka.record.source.binlog.offset


@contextmanager
def answered_after(ready: threading.Event, relay: Relay, error: Exception | None) -> Iterator[None]:
    """Answer the held commit once `ready` is set, with this error or by applying it."""

    def answer() -> None:
        assert ready.wait(20)
        if error is None:
            relay.kafka.apply()
        else:
            relay.kafka.refuse(error)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield
    finally:
        ready.set()
        thread.join(20)


def stop_when_published(relay: Relay, world: World, rows: int) -> None:
    def script() -> None:
        if world.rows == rows:
            relay.stop.set()

    relay.script = script


def play(relay: Relay, steps: Iterator[Callable[[], bool]]) -> None:
    """Run these steps in turns of the session's loop, each when what the step before yields is
    true.
    """
    waiting = [next(steps)]

    def turn() -> None:
        while waiting and waiting[0]():
            following = next(steps, None)
            waiting[:] = [] if following is None else [following]

    relay.script = turn


def half_a_transaction(relay: Relay, world: World) -> Iterator[Callable[[], bool]]:
    """Publish transaction 1, then let the source send one row of transaction 2."""
    yield lambda: world.rows == 1
    put(relay, [begin(2), row(20)])
    yield lambda: relay.producer.open_seconds > 0

"""A leader's session whose servers are values.

The session, its loop, its checkpoint and its outbox are real, and so is the election. ZooKeeper and
Kafka are in memory, and the source is a list of items.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from relay.ha import Election
from relay.model.change import StreamItem, TransactionEnd
from relay.model.names.mapping_name import MappingName
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.ingest.open_sources import OpenSources
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.pipeline.supervision.leader import leader_run, publisher_factory
from relay.pipeline.supervision.leader.leader_run import LeaderRun
from relay.pipeline.supervision.leader.publisher_factory import PublisherFactory
from relay.schema import DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from tests.unit.ha.memory_zookeeper import MemorySession
from tests.unit.pipeline.checkpoint.test_commit_steps import RECORD, JournalGuard
from tests.unit.pipeline.supervision.leader.memory_kafka import MemoryKafka, MemoryProducer
from tests.unit.pipeline.supervision.leader.run_stores import (
    Around,
    Failover,
    ManualAssignments,
    Notes,
    Sizes,
    Spooling,
    settings,
)

PATH = "/leader"


class Relay:
    """One relay: an election, and sessions one after the other.

    `script` runs after each turn of the session's loop. `items` are what the source has in all: a
    session reads those after the position that it begins from.
    """

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        kafka: MemoryKafka,
        zookeeper: MemorySession,
        items: Sequence[StreamItem],
        transaction: Mapping[str, object] | None = None,
    ) -> None:
        self._monkeypatch = monkeypatch
        self._settings = settings(transaction)
        self.kafka = kafka
        self.zookeeper = zookeeper
        self.items = items
        self.journal: list[str] = []
        self.assignments = ManualAssignments()
        session: Any = zookeeper
        table: Any = self.assignments
        self.election = Election(session, PATH, "me", "shop", table)
        self.stats = InstanceStats()
        self.notes = Notes()
        self.around = Around(kafka, self.journal)
        self.failover = Failover(self.journal, self._settings.instances[0].source)
        self.producer = MemoryProducer(kafka, self.journal)
        self.flow = SimpleNamespace(paused=False, holds_back=lambda _: False)
        self.called = False
        self.calls = SimpleNamespace(acknowledge=lambda: None, pending=self._pending)
        self.stop = threading.Event()
        self.script: Callable[[], None] = lambda: None
        self.buffer = ChangeBuffer(self._settings.instances[0].buffer)
        self.open_seconds = 0.0

    def take_leadership(self) -> bool:
        """Take the election's node if it is free."""
        return self.election.wait_until_leading(threading.Event(), 0)

    def run(self) -> None:
        """Run one session to its end. Raises what it raises."""
        self.producer = MemoryProducer(self.kafka, self.journal) if self._used() else self.producer
        self._install()
        context: Any = SimpleNamespace(
            settings=self._settings,
            instance=self._settings.instances[0],
            election=self.election,
            notes=self.notes,
            mapping=self.around,
            stats=self.stats,
            call=self.calls,
            flow=self.flow,
        )
        memory: Any = SimpleNamespace(
            failover=self.failover, spooling=Spooling(), sizes=Sizes(), group=None
        )
        session = LeaderRun(context, memory)
        self.buffer = session.buffer
        try:
            session.run(self.stop, lambda: self.journal.append("rows flow"))
        finally:
            self.open_seconds = session.open_seconds

    def turn(self) -> None:
        """Run the script; the session's loop calls it after each item or pause."""
        self.script()

    def _pending(self) -> bool:
        return self.called

    def _used(self) -> bool:
        return "producer opens" in self.journal

    def _install(self) -> None:
        """Put the fakes where the session looks for its servers."""
        fakes: dict[str, Any] = {
            "new_producer": lambda *_: self.producer,
            "KafkaPositionStore": lambda *_: self.around,
            "SourceOpener": lambda *_: _Opener(self),
            "PublisherFactory": lambda *given: _Factory(self, *given),
            "watched": _not_watched,
        }
        for name, fake in fakes.items():
            self._monkeypatch.setattr(leader_run, name, fake)
        self._monkeypatch.setattr(publisher_factory, "AuditTrail", lambda *_: self.around)


@contextmanager
def _not_watched(*_: object) -> Iterator[None]:
    yield


class _Opener:
    """Opens the source at the record's position."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    @contextmanager
    def open(self, chosen: SourceChoice, _: threading.Event) -> Iterator[OpenSources]:
        relay = self._relay
        relay.journal.append("source opens")
        record = chosen.record or RECORD
        source: Any = SimpleNamespace(stream=SimpleNamespace(silent_seconds=0.0), fingerprints=None)
        yield OpenSources(
            record,
            chosen.record is None,
            {"": source},
            dict(chosen.servers),
            {},
            lambda _: _Reader(relay, record),
            relay.turn,
        )
        relay.journal.append("source closes")


class _Reader:
    """Puts what lies after the record's position into the buffer, at once."""

    def __init__(self, relay: Relay, record: PositionRecord) -> None:
        self._relay = relay
        self._record = record

    def start(self) -> None:
        done = self._record.source.binlog.offset
        after = [
            number
            for number, item in enumerate(self._relay.items)
            if isinstance(item, TransactionEnd) and item.position.offset <= done
        ]
        put(self._relay, self._relay.items[after[-1] + 1 if after else 0 :])

    def stop(self) -> None:
        self._relay.journal.append("reader stops")


def put(relay: Relay, items: Sequence[StreamItem]) -> None:
    """Let the source send these."""
    for item in items:
        assert relay.buffer.put(item, 100)
    relay.buffer.hand_over()


class _Factory(PublisherFactory):
    """Makes a real publisher around the stores of the relay."""

    def __init__(self, relay: Relay, *given: Any) -> None:
        super().__init__(*given)
        self._relay = relay

    def topics(self, *_: object) -> Any:
        return self._relay.around

    def part_guard(self, *_: object) -> PartGuard:
        return JournalGuard(self._relay.journal)

    def _new_publisher(
        self,
        sources: OpenSources,
        outbox: Outbox,
        topics: Any,
        parts: PartGuard,
        refinements: Any,  # noqa: ARG002 - the table has no rules
    ) -> Publisher:
        around: Any = self._relay.around
        instance, stats = self._instance, self._stats
        checkpoint = Checkpoint(
            outbox,
            Progress(sources.record, "", MappingName(1)),
            PositionMessages(around, around, topics, {"": None}),
            parts,
            SkipAudit(around, "shop"),
            stats,
            instance.transaction,
        )
        definitions = TableDefinitions(type_text, around, DeclaredTypes(), as_declared=False)
        context = SourceContext(definitions, PreparedTransactions(around, 500_000))
        return Publisher(instance, checkpoint, around, {"": context}, topics, stats)

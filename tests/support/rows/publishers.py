"""A publisher without servers: Kafka, ZooKeeper and the catalogue are replaced by objects in
memory.
"""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from threading import Event
from typing import Any, Final

from relay.audit import AuditEntry
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.names.mapping_name import MappingName
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.reporting_checkpoint import ReportingCheckpoint
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.publish import BatchProducer
from relay.route import Router
from relay.schema import DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import BufferSettings, InstanceSettings

_LARGEST_MESSAGE_BYTES: Final = 1_000_000


class SentMessages(BatchProducer):
    """A producer that records its messages."""

    sent_messages = 0
    open_seconds = 0.0

    def __init__(self) -> None:
        self.messages: list[OutboundMessage] = []

    def expect(self, partitions: int) -> None: ...

    def open(self) -> None: ...

    def send(self, message: OutboundMessage) -> None:
        self.messages.append(message)
        self.sent_messages += 1
        self.open_seconds = 0.001

    def send_deletion(self, message: OutboundMessage) -> None:
        self.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        for each in messages.each(topic):
            self.send(each)

    def commit(self, record: OutboundMessage) -> "Future[None]":
        self.send(record)
        self.sent_messages, self.open_seconds = 0, 0.0
        answer: Future[None] = Future()
        answer.set_result(None)
        return answer

    def abort(self) -> None: ...

    def close(self) -> None: ...


class CountedMessages(SentMessages):
    """A producer that counts rows and bytes."""

    rows = 0
    value_bytes = 0

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:  # noqa: ARG002 - it counts whatever the topic is
        self.rows += messages.number
        self.value_bytes += messages.value_bytes
        self.sent_messages += messages.number
        self.open_seconds = 0.001


class Surroundings:
    """The dependencies of a publisher: store, active mapping, topics and audit trail."""

    name = MappingName(1)
    documents: Mapping[str, Mapping[str, str]] = {}
    names: Any = None

    def __init__(self, router: Router, partitions: Mapping[str, int]) -> None:
        self.router = router
        self.counts = dict(partitions)
        self.placed_by: dict[str, str] = {}
        self.hashed_forms: dict[str, Any] = {}
        self.formats: dict[str, str] = {}
        self.sizes = self
        self.limits = dict.fromkeys(partitions, _LARGEST_MESSAGE_BYTES)

    def renew(self, *_: object) -> bool:
        return False

    def is_compacted(self, *_: object) -> bool:
        """Return False: no topic of these tests is compacted."""
        return False

    def partitions(self, topic: str) -> int:
        return self.counts[topic]

    def keep_key_forms(self, *_: object) -> None: ...

    def ddl(self, *_: object) -> None:
        return None

    def read(self, *_: object, **__: object) -> None:
        return None

    def message(self, record: PositionRecord | AuditEntry) -> OutboundMessage:
        return OutboundMessage("position", 0, None, repr(record).encode(), ())

    def history_messages(self, *_: object) -> list[OutboundMessage]:
        return []

    def keep_mappings(
        self, record: PositionRecord, _: object
    ) -> tuple[PositionRecord, list[OutboundMessage]]:
        return record, []


class _WholeTransactions(PartGuard):
    """For publishers whose transactions hold no rolled-back row."""

    def __init__(self) -> None:
        super().__init__({}, 0, lambda: False, Event())

    def reads_first(self, *_: object) -> bool:
        return False

    def before_part(self, *_: object) -> None:
        return None


def publisher_without_servers(
    record: PositionRecord,
    producer: BatchProducer,
    router: Router,
    partitions: Mapping[str, int],
    sources: Iterable[str] = ("",),
    transaction: Mapping[str, object] | None = None,
    parts: PartGuard | None = None,
    surroundings: Surroundings | None = None,
    ddl: str = "drop",
    name: str = "x",
    message: Mapping[str, object] | None = None,
    **instance: object,
) -> Publisher:
    """Return a publisher from this record on, without DDL topics.

    `partitions` are how many each topic has; `transaction`, `message` and `instance` are settings.
    """
    source = {"host": "h", "user": "u", "server_id": 7}
    fields = {
        "name": name,
        "source": source,
        "message": {"ddl": ddl, **(message or {})},
        "transaction": transaction or {},
        **instance,
    }
    settings = InstanceSettings.model_validate(fields)
    around, stats = surroundings or Surroundings(router, partitions), InstanceStats()
    outbox = Outbox(producer, ChangeBuffer(BufferSettings()), stats, threading.Event())
    all_of_them: Any = (
        around  # it answers for the store, the active mapping, the topics and the audit trail
    )
    position = PositionMessages(
        all_of_them, all_of_them, all_of_them, dict.fromkeys(sources, around.names)
    )
    progress, skip_audit = Progress(record, "", MappingName(1)), SkipAudit(all_of_them, "x")
    common = outbox, progress, position, parts or _WholeTransactions(), skip_audit, stats
    checkpoint = (
        Checkpoint(*common, settings.transaction)
        if settings.transaction_topic is None
        else ReportingCheckpoint(*common, settings)
    )
    contexts = {each: _source(all_of_them) for each in sources}
    return Publisher(settings, checkpoint, all_of_them, contexts, all_of_them, stats)


def _source(around: Any) -> SourceContext:
    definitions = TableDefinitions(type_text, around, DeclaredTypes(), as_declared=False)
    return SourceContext(definitions, PreparedTransactions(around, 500_000))

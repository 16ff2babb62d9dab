"""Reads the source once, from a position on: the pipeline of an instance without Kafka."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from time import time
from typing import Final

from relay.audit import AuditEntry
from relay.embedded.local_producer import Batch, LocalProducer, LocalTopics
from relay.embedded.local_stores import MAPPINGS, GivenMapping, LocalPositions, LocalRecords
from relay.embedded.stored_position import Kept
from relay.errors import PositionUnreadable, RelayError
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.records.position_record import PositionRecord
from relay.pipeline.active_mapping import ActiveMapping
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import GuardedSource, PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.ingest.names.schema_history import open_names
from relay.pipeline.ingest.open_source import open_for
from relay.pipeline.ingest.open_sources import OpenSource
from relay.pipeline.ingest.reader import Reader
from relay.pipeline.ingest.source_stall import SourceStall
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.pipeline.rollback_memory import RolledBack
from relay.pipeline.supervision.leader.committed_record import refuse_changed_rules
from relay.pipeline.supervision.schema_refresh import TablesToRefresh
from relay.position import PREPARED, SCHEMA
from relay.refine import Refinements, configuration_of_rows
from relay.schema import CatalogReader, DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings

_INSTALLATION: Final = "embedded"
_IDLE_SECONDS: Final = 0.1
_GUARD_SECONDS: Final = 300.0
"""How many seconds reading a large transaction to its end may take, before its first part is passed
to the program.
"""
_PREPARED_BYTES: Final = 1_000_000
"""Largest size in bytes of one record with rows of prepared transactions."""


@dataclass(slots=True)
class EmbeddedState:
    """The state that the next run of a BatchReader continues from. `record` is the position record
    of the last batch; None before the first batch.
    """

    record: PositionRecord | None
    stores: dict[str, LocalRecords]
    rolled_back: RolledBack = field(default_factory=RolledBack)
    to_refresh: TablesToRefresh = field(default_factory=TablesToRefresh)

    @classmethod
    def of(cls, record: bytes | None, kept: Kept) -> "EmbeddedState":
        """Return the state at a saved position.

        record  bytes of the position record; None: there is none
        kept    records that are stored together with the position

        Raises PositionUnreadable, PositionNewer.
        """
        known = None if record is None else PositionRecord.from_bytes(record)
        stores = {
            name: LocalRecords(name, kept.get(name, {})) for name in (SCHEMA, PREPARED, MAPPINGS)
        }
        return cls(known, stores)


class BatchReader:
    """Yields batches in the caller's thread; a second thread reads the source.

    `started` is whether the source has been opened.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        documents: dict[str, str],
        state: EmbeddedState,
        stop: threading.Event,
    ) -> None:
        self.started = False
        self._instance = instance
        self._documents = documents
        self._state = state
        self._stop = stop
        self._buffer = ChangeBuffer(instance.buffer)
        self._producer = LocalProducer(state.stores)
        self._stats = InstanceStats()

    def run(self) -> Iterator[Batch | None]:
        """Yield batches in order until `stop` is set, and None after each short wait without a
        batch.

        Raises the RelayError that ends a run.
        """
        refuse_changed_rules(self._instance, self._state.record)
        mapping = self._mapping()
        with self._opened() as (source, record):
            self._state.to_refresh.refreshed()
            self.started = True
            outbox = Outbox(self._producer, self._buffer, self._stats, self._stop)
            publisher = self._publisher(source, record, mapping, outbox)
            if self._state.record is None or source.begun:
                publisher.checkpoint.commit_start()
            reader = Reader(
                self._instance.name, source.stream, self._buffer, lambda: None, names=source.names
            )
            reader.start()
            try:
                yield from self._pumped(publisher, source)
            finally:
                reader.stop()

    def _pumped(self, publisher: Publisher, source: OpenSource) -> Iterator[Batch | None]:
        """Yield batches while the source is read.

        Complete batches are also yielded if reading ends with an error, because the stores beside
        the position already contain the records of these batches.
        """
        try:
            yield from self._read(publisher, source)
        except RelayError:
            yield from self._complete()
            raise

    def _complete(self) -> Iterator[Batch]:
        batches = self._producer.batches
        while batches and not self._stop.is_set():
            self._state.record = PositionRecord.from_bytes(batches[0].record)
            yield batches.popleft()

    def _read(self, publisher: Publisher, source: OpenSource) -> Iterator[Batch | None]:
        stall = SourceStall({"": source}, self._instance.transaction.source_stall_seconds)
        batches, checkpoint = self._producer.batches, publisher.checkpoint
        while not self._stop.is_set():
            for batch in self._complete():
                yield batch
                stall.restart()
            if publisher.take(self._buffer.take(_IDLE_SECONDS)):
                stall.restart()
            elif publisher.progress.whole:
                publisher.renew_mapping()
            else:
                stall.check(publisher.progress.following)
            checkpoint.commit_if_due(idle=self._buffer.empty)
            if not batches:
                yield None

    def _mapping(self) -> ActiveMapping:
        record, kept = self._state.record, self._state.stores[MAPPINGS]
        given = GivenMapping(self._documents, record, kept)
        mapping = ActiveMapping(
            given, self._instance.routing, threading.Event(), self._instance.name
        )
        mapping.begin(record, given.kept)
        return mapping

    @contextmanager
    def _opened(self) -> Iterator[tuple[OpenSource, PositionRecord]]:
        """Open the source at the position, with the names of its tables."""
        state, server = self._state, self._instance.source
        resume = None if state.record is None else state.record.source
        with (
            closing(CatalogReader(server)) as catalog,
            closing(
                open_for(_INSTALLATION, self._instance, server, resume, state.rolled_back.ranges)
            ) as stream,
        ):
            record = state.record or PositionRecord(
                stream.start, OrderPair(0, 0), epoch=0, change_time_ms=int(time() * 1000)
            )
            names = open_names(
                state.stores[SCHEMA],
                server,
                stream.start,
                stream.server,
                catalog,
                record.names,
                state.to_refresh.of_source(),
            )
            yield OpenSource(stream, catalog, names), record

    def _publisher(
        self, source: OpenSource, record: PositionRecord, mapping: ActiveMapping, outbox: Outbox
    ) -> Publisher:
        instance, topics = self._instance, LocalTopics()
        checkpoint = Checkpoint(
            outbox,
            self._progress(source, record, mapping),
            PositionMessages(LocalPositions(), mapping, topics, {"": source.names}),
            self._part_guard(source),
            SkipAudit(_NoTrail(), instance.name),
            self._stats,
            instance.transaction,
        )
        return Publisher(
            instance,
            checkpoint,
            mapping,
            {"": self._context(source)},
            topics,
            self._stats,
            refinements=Refinements(instance, {}),
        )

    def _progress(
        self, source: OpenSource, record: PositionRecord, mapping: ActiveMapping
    ) -> Progress:
        record = replace(record, rows=configuration_of_rows(self._instance))
        if record.split is None:
            record = record.under(mapping.name)
        return Progress(
            record,
            configuration_digest(self._instance),
            mapping.name,
            keeps_gtids=self._instance.source.gtid,
            follows_names=[""] if source.names is not None else [],
        )

    def _part_guard(self, source: OpenSource) -> PartGuard:
        guarded = GuardedSource(self._instance.source, source, self._state.rolled_back)
        return PartGuard({"": guarded}, _GUARD_SECONDS, self._stop.is_set, self._stop)

    def _context(self, source: OpenSource) -> SourceContext:
        return SourceContext(
            TableDefinitions(
                type_text,
                source.catalog,
                DeclaredTypes(),
                marks_history=self._instance.message.marks_history,
            ),
            PreparedTransactions(self._state.stores[PREPARED], _PREPARED_BYTES),
        )


class _NoTrail:
    """Raises an error instead of recording a skipped transaction.

    Only a relay with Kafka can skip transactions, so a position record that names one was not saved
    by embedded changes.
    """

    def message(self, entry: AuditEntry) -> OutboundMessage:
        del entry
        raise PositionUnreadable(
            "The saved position contains an order to skip a transaction, which only a relay "
            "with Kafka can execute.",
            remedy="Use a position that embedded changes saved.",
        )

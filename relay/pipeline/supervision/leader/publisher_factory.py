"""Creates the publisher of a run, and commits what consumers must see before its first row."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from relay.audit import AuditEntry, AuditTrail
from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetterTopic
from relay.errors import StoreUnreachable
from relay.model.records.position_record import PositionRecord
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import GuardedSource, PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.reporting_checkpoint import ReportingCheckpoint
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.copying.chunk_publisher import ChunkPublisher
from relay.pipeline.copying.own_requests import due
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.delivery.new_producer import uses_second_id
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.ingest.open_sources import OpenSource, OpenSources
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.publishing.move_markers import MoveMarkers
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.pipeline.supervision.audited_acts import copy_entry, switch_entry
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory
from relay.pipeline.supervision.leader.run_topics import run_topics
from relay.pipeline.supervision.leader.source_opener import SourceOpener
from relay.position import PREPARED, KafkaPositionStore
from relay.refine import Refinements, configuration_of_rows
from relay.schema import DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.state import StartNote


class PublisherFactory:
    """Makes the publisher of one run. `interrupted` returns whether a long read must end."""

    def __init__(
        self,
        context: InstanceContext,
        memory: InstanceMemory,
        store: KafkaPositionStore,
        opener: SourceOpener,
        interrupted: Callable[[threading.Event], bool],
    ) -> None:
        self._settings = context.settings
        self._instance = context.instance
        self._mapping = context.mapping
        self._notes = context.notes
        self._feeders = TopicFeeders(context.notes, context.instance.name)
        self._stats = context.stats
        self._sizes = memory.sizes
        self._context = context
        self._memory = memory
        self._failover = memory.failover
        self._store = store
        self._opener = opener
        self._interrupted = interrupted

    def topics(self, saved: PositionRecord | None, in_use: Callable[[int], None]) -> Topics:
        """Return the topics of the rows. `in_use` is called with the total number of their
        partitions. `saved` is the position record, None without one.
        """
        return run_topics(self._context, self._memory, saved, self._store.kept_mapping, in_use)

    def part_guard(self, sources: OpenSources, stop: threading.Event) -> PartGuard:
        """Return the guard that reads a large source transaction to its end before a part is
        published.
        """
        guarded = {
            name: GuardedSource(sources.servers[name], each, sources.rolled_back[name])
            for name, each in sources.by_name.items()
        }
        return PartGuard(
            guarded,
            self._instance.transaction.timeout_ms / 3000,
            partial(self._interrupted, stop),
            stop,
        )

    def publisher(
        self,
        sources: OpenSources,
        chosen: SourceChoice,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        """Return the publisher that begins at the chosen position. First commits a record with what
        other programs must see before its first row: a switch, the start position, requested
        copies, changed rules for rows, and the audit entries.
        """
        copies = due(
            self._instance,
            first_start=chosen.record is None,
            accepted_loss=any(each.lost or each.left_out for each in chosen.switches),
        )
        sources = _with_copies(sources, copies)
        publisher = self._new_publisher(sources, outbox, topics, parts, refinements)
        self._mark_moves(publisher, sources.record, topics)
        # Before a row of the other server: what comes next must find that it is the one.
        name = self._instance.name
        entries = [switch_entry(name, each) for each in chosen.switches]
        self._audit([*entries, *(copy_entry(name, each) for each in copies)], publisher.checkpoint)
        # The job that copies tables reads in the record the rules by which rows are published from
        # now on.
        if (
            chosen.switches
            or copies
            or sources.fresh
            or publisher.progress.record.rows != sources.record.rows
        ):
            publisher.checkpoint.commit_start()
        for switch in chosen.switches:
            self._failover.switched(switch)
        self._note_start(sources.record, needed=chosen.record is None)
        self._stats.resumed(sources.record)
        return publisher

    def _mark_moves(self, publisher: Publisher, record: PositionRecord, topics: Topics) -> None:
        """Mark the ends of tables, also of a mapping edit that was saved since this record."""
        publisher.markers = MoveMarkers(self._instance, topics, self._feeders)
        before = self._mapping.published_set(record, self._store.kept_mapping)
        if before is not None:
            publisher.markers.prepare(self._mapping.sets_since(before))
            publisher.mark_moves()

    def _audit(self, entries: Sequence[AuditEntry], checkpoint: Checkpoint) -> None:
        if not entries:
            return
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        trail.ensure_topic()
        for entry in entries:
            checkpoint.add_own(trail.message(entry))

    def _note_start(self, record: PositionRecord, *, needed: bool) -> None:
        """Store the note that the instance has a past; a wiped ZooKeeper has lost it.

        Raises StoreUnreachable if it is needed.
        """
        start = record.source
        try:
            self._notes.note_start(
                self._instance.name,
                StartNote(start.binlog.file, start.binlog.offset, start.gtid_set),
            )
        except StoreUnreachable:
            if needed:
                raise

    def _new_publisher(
        self,
        sources: OpenSources,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        checkpoint = self._checkpoint(sources, outbox, topics, parts)
        contexts = {
            name: self._source_context(name, source) for name, source in sources.by_name.items()
        }
        publisher = Publisher(
            self._instance,
            checkpoint,
            self._mapping,
            contexts,
            topics,
            self._stats,
            self._oversize(topics, checkpoint),
            refinements,
        )
        publisher.use(self._copies(sources, checkpoint, topics, refinements))
        return publisher

    def _checkpoint(
        self, sources: OpenSources, outbox: Outbox, topics: Topics, parts: PartGuard
    ) -> Checkpoint:
        """Return the owner of the batches, which begins with the record of these sources."""
        record = self._first_record(sources)
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        if record.skips_some:
            trail.ensure_topic()
            trail.begin_chain()
        names = {name: source.names for name, source in sources.by_name.items()}
        progress = Progress(
            record,
            configuration_digest(self._instance),
            self._mapping.name,
            keeps_gtids=self._instance.source.gtid,
            follows_names=[name for name, history in names.items() if history is not None],
            fingerprints=sources.fingerprints,
        )
        position = PositionMessages(self._store, self._mapping, topics, names)
        skip_audit = SkipAudit(trail, self._instance.name)
        for topic in self._instance.report_topics:
            topics.ensure_single(topic)
        common = outbox, progress, position, parts, skip_audit, self._stats
        if self._instance.transaction_topic is None:
            return Checkpoint(*common, self._instance.transaction)
        return ReportingCheckpoint(*common, self._instance)

    def _first_record(self, sources: OpenSources) -> PositionRecord:
        """Return the record of the sources, under the mapping set that is active now."""
        second_id = uses_second_id(self._instance, sources.record)
        rows = configuration_of_rows(self._instance)
        record = replace(sources.record, rows=rows, second_id=second_id)
        if record.split is not None:
            return record
        # The set of a half-published transaction that was given up was activated.
        self._mapping.renew()
        return record.under(self._mapping.name)

    def _copies(
        self,
        sources: OpenSources,
        checkpoint: Checkpoint,
        topics: Topics,
        refinements: Refinements,
    ) -> TableCopies:
        """Return the copier of source tables beside the stream."""
        source = next(iter(sources.by_name.values()))
        publisher = ChunkPublisher(
            self._instance,
            checkpoint,
            source.catalog,
            topics,
            refinements,
            self._oversize(topics, checkpoint),
        )
        return TableCopies(
            self._instance,
            next(iter(sources.servers.values())),
            self._notes.snapshots,
            checkpoint,
            publisher,
            self._stats,
        )

    def _source_context(self, name: str, source: OpenSource) -> SourceContext:
        message = self._instance.message
        as_declared, marks_history = message.value_style == "canal", message.marks_history
        return SourceContext(
            TableDefinitions(
                type_text,
                source.catalog,
                DeclaredTypes(),
                as_declared=as_declared,
                marks_history=marks_history,
            ),
            PreparedTransactions(
                self._opener.kept(PREPARED, name), self._settings.kafka.message_max_bytes // 2
            ),
        )

    def _oversize(self, topics: Topics, checkpoint: Checkpoint) -> OversizedMessages | None:
        """None if a row that does not fit stops the instance."""
        instance, installation = self._instance, self._settings.installation
        if instance.oversize == "stop":
            return None
        claims = (
            ClaimStore(instance.claims, installation, instance.name)
            if instance.oversize == "claim_check"
            else None
        )
        letters = DeadLetterTopic(self._settings.kafka, installation, instance.name)
        return OversizedMessages(
            checkpoint,
            topics,
            self._sizes,
            letters,
            claims,
            instance.message,
            MessageFormats(instance),
        )


def _with_copies(sources: OpenSources, copies: Mapping[str, SnapshotProgress]) -> OpenSources:
    """Return the sources with a record that also names the copies that the relay requests."""
    if not copies:
        return sources
    snapshots = {**sources.record.snapshots, **copies}
    return replace(sources, record=replace(sources.record, snapshots=snapshots))

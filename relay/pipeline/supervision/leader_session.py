"""One stretch of leadership: from the committed position on, until something ends it."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

import structlog

from relay.audit import AuditEntry, AuditTrail
from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetterTopic
from relay.errors import AskedToStop, BatchAborted, HistoryChanged, RelayError, StoreUnreachable
from relay.lookups import SourceLookups
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import GuardedSource, PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.new_producer import new_producer
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.delivery.saved_position import position_lost
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topic_monitor import watched
from relay.pipeline.delivery.topics import PublishedPartitioning, Topics
from relay.pipeline.ingest.group_sources import refuse_foreign_record
from relay.pipeline.ingest.open_sources import OpenSource, OpenSources
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.interruptible import answered
from relay.pipeline.messages.configuration_digest import configuration_digest, known_digests
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.publishing.publish_loop import PublishLoop
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.visible_lookups import wait_for_lookups
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.pipeline.supervision.graceful_stop import drain_to_transaction_end
from relay.pipeline.supervision.instance_context import InstanceContext, SessionMemory
from relay.pipeline.supervision.session_setup import SourceOpener
from relay.position import PREPARED, KafkaPositionStore
from relay.refine import Refinements, configuration_of_rows
from relay.schema import DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.source import Visibility
from relay.state import StartNote, SwitchNote

_log = structlog.stdlib.get_logger(__name__)


class LeaderSession:
    """Opens producer, position and source in this order, walks until stopped, and aborts what is
    open when it ends.

    `open_seconds` says afterwards how long the batch that was given up had been open.
    """

    def __init__(self, context: InstanceContext, memory: SessionMemory) -> None:
        settings, instance = context.settings, context.instance
        self.buffer = ChangeBuffer(
            instance.buffer, memory.spooling.overdue if memory.spooling.enabled else None
        )
        self.producer = new_producer(settings.installation, memory.sizes.new_client(), instance)
        self.open_seconds = 0.0
        self._settings = settings
        self._instance = instance
        self._mapping = context.mapping
        self._notes = context.notes
        self._stats = context.stats
        self._sizes = memory.sizes
        self._call = context.call
        self._store = KafkaPositionStore(settings.kafka, settings.installation, instance.name)
        self._failover = memory.failover
        self._spooling = memory.spooling
        self._loop = PublishLoop(
            instance, context.election, context.flow, context.call, self.buffer
        )
        self._opener = SourceOpener(settings, instance, memory, self.buffer)

    def run(self, stop: threading.Event, running: Callable[[], None]) -> None:
        """Publish until `stop`, or until another relay should lead.

        `running` is called once rows flow.

        Raises every RelayError that ends a session.
        """
        with self._own_producer():
            with self._spooling.spool_if_slow():
                saved = answered(self._open_producer, stop, "Opening the producer")
            chosen = answered(lambda: self._failover.choose(saved), stop, "Choosing the source")
            with (
                closing(SourceLookups(self._instance.lookups, chosen.server)) as lookups,
                closing(Visibility(chosen.server)) as visibility,
                self._opener.open(chosen, stop) as sources,
            ):
                self._stats.totals.source_connections += 1
                outbox = Outbox(self.producer, self.buffer, self._stats, stop)
                topics = self._topics(saved)
                parts = self._part_guard(sources, stop)
                refinements = Refinements(self._instance, lookups.by_name)
                publisher = self._publisher(sources, chosen, outbox, topics, parts, refinements)
                lookups.before_asking = lambda: wait_for_lookups(
                    visibility, publisher.progress.begin
                )
                running()
                with (
                    self._failover.streaming(),
                    watched(topics, self._settings.kafka, self._instance.name),
                ):
                    self._pump(sources, publisher, outbox, stop)

    @contextmanager
    def _own_producer(self) -> Iterator[None]:
        """Close the producer at the end.

        Not one that owes an answer, because closing throws away what a commit on its way still
        needs.
        """
        owes_answer = False
        try:
            yield
        except AskedToStop:
            owes_answer = True
            raise
        finally:
            if not owes_answer:
                self.producer.close()

    def _open_producer(self) -> PositionRecord | None:
        self._call.acknowledge()
        self.producer.open()
        record = self._saved_record()
        # Before the source is asked for anything: an instance that waits for its mapping moves no
        # position.
        self._mapping.begin(record, self._store.kept_mapping)
        return record

    def _pump(
        self, sources: OpenSources, publisher: Publisher, outbox: Outbox, stop: threading.Event
    ) -> None:
        reader = sources.reader(outbox)
        reader.start()
        ended_by, commit_unanswered = AskedToStop.code, False
        try:
            self._publish_to_the_end(publisher, stop, sources)
        except AskedToStop:
            # No call may follow an unanswered commit; the record tells the next start what became
            # of it.
            commit_unanswered = True
            raise
        except RelayError as exc:
            ended_by = exc.code
            raise
        finally:
            reader.stop()
            if not commit_unanswered:
                self._abort(ended_by, stop)

    def _publish_to_the_end(
        self, publisher: Publisher, stop: threading.Event, sources: OpenSources
    ) -> None:
        """Publish until something ends it.

        Then wait for a commit under way, because its error (a fence) goes before everything else.
        """
        try:
            self._loop.run(publisher, stop, sources)
            drain_to_transaction_end(publisher, self.buffer)
        except AskedToStop:
            raise
        except Exception:
            publisher.checkpoint.abort()
            raise
        publisher.checkpoint.abort()

    def _abort(self, ended_by: str, stop: threading.Event) -> None:
        """Abort what is open.

        An abort that is not answered must not hide what ended the session, and this producer is
        thrown away.

        A fence goes before everything else: who is told of it here must not open the next producer
        under the same leadership.
        """
        self.open_seconds = self.producer.open_seconds
        if self.open_seconds and self._instance.transaction.delivery == "exactly_once":
            self._stats.totals.aborts[ended_by] += 1
        try:
            answered(self.producer.abort, stop, "The abort")
        except (BatchAborted, AskedToStop) as exc:
            _log.warning("abort_unanswered", instance=self._instance.name, reason=exc.reason)

    def _saved_record(self) -> PositionRecord | None:
        made = self._store.ensure_topic()
        record = None if made else self._store.read()
        # Where there is a record, the note says nothing more: ZooKeeper's absence is no reason to
        # stand still.
        noted = self._notes.started(self._instance.name) if record is None else None
        if lost := position_lost(self._instance.name, self._store.topic, noted, record):
            raise lost
        refuse_foreign_record(self._instance, record)
        if (
            record is not None
            and record.split is not None
            and record.split.configuration not in known_digests(self._instance)
        ):
            raise HistoryChanged(
                f"Part of the transaction at {record.split.begin} was published under other "
                f"filter or message settings.",
                remedy=(
                    "Restore the settings until that transaction is published whole, then change "
                    "them."
                ),
            )
        return record

    def _audit(self, switches: Iterable[SwitchNote], checkpoint: Checkpoint) -> None:
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        trail.ensure_topic()
        for switch in switches:
            checkpoint.add_own(trail.message(_switch_entry(self._instance.name, switch)))

    def _part_guard(self, sources: OpenSources, stop: threading.Event) -> PartGuard:
        guarded = {
            name: GuardedSource.opened(sources.servers[name], each, sources.rolled_back[name])
            for name, each in sources.by_name.items()
        }

        return PartGuard(
            guarded,
            self._instance.transaction.timeout_ms / 3000,
            partial(self._loop.interrupted, stop),
            stop,
        )

    def _publisher(
        self,
        sources: OpenSources,
        chosen: SourceChoice,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        """Return the publisher that begins at the chosen position, after the commit of what must be
        visible before its first row.
        """
        publisher = self._new_publisher(sources, outbox, topics, parts, refinements)
        if chosen.switches:
            # Before a row of the other server: what comes next must find that it is the one.
            self._audit(chosen.switches, publisher.checkpoint)
        # Whoever copies tables reads in the record by which rules their rows are published from now
        # on.
        if (
            chosen.switches
            or sources.fresh
            or publisher.progress.record.rows != sources.record.rows
        ):
            publisher.checkpoint.commit_start()
        for switch in chosen.switches:
            self._failover.switched(switch)
        self._note_start(sources.record, needed=chosen.record is None)
        self._stats.resumed(sources.record)
        return publisher

    def _new_publisher(
        self,
        sources: OpenSources,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        record = replace(sources.record, rows=configuration_of_rows(self._instance))
        if record.split is None:
            # of a half-published transaction that an operator or a switch gave up, the set was put
            # in force
            self._mapping.renew()
            record = replace(
                record,
                mapping_set=self._mapping.name.number,
                mapping_digest=self._mapping.name.digest,
            )
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        if record.skips_some:
            trail.ensure_topic()
        progress = Progress(
            record,
            configuration_digest(self._instance),
            self._mapping.name,
            keeps_gtids=self._instance.source.gtid,
            follows_names=[
                name for name, source in sources.by_name.items() if source.names is not None
            ],
            places=sources.places,
        )
        names = {name: source.names for name, source in sources.by_name.items()}
        position = PositionMessages(self._store, self._mapping, topics, names)
        skip_audit = SkipAudit(trail, self._instance.name)
        checkpoint = Checkpoint(
            outbox, progress, position, parts, skip_audit, self._stats, self._instance.transaction
        )
        contexts = {
            name: self._source_context(name, source) for name, source in sources.by_name.items()
        }
        oversize = self._oversize(topics, checkpoint)
        return Publisher(
            self._instance,
            checkpoint,
            self._mapping,
            contexts,
            topics,
            self._stats,
            oversize,
            refinements,
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

    def _topics(self, saved: PositionRecord | None) -> Topics:
        feeders = TopicFeeders(self._notes.topics, self._instance.name)
        return Topics(
            self._settings.kafka,
            self._instance,
            PublishedPartitioning.of(saved),
            self._sizes,
            feeders,
            in_use=self.producer.expect,
        )

    def _note_start(self, record: PositionRecord, *, needed: bool) -> None:
        """Note that the instance has a past; a ZooKeeper that was wiped has forgotten it.

        Raises StoreUnreachable where it is needed.
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

    def _oversize(self, topics: Topics, checkpoint: Checkpoint) -> OversizedMessages | None:
        """None where a row that does not fit stops the instance."""
        instance, installation = self._instance, self._settings.installation
        if instance.oversize == "stop":
            return None
        claims = (
            ClaimStore(instance.claims, installation, instance.name)
            if instance.oversize == "claim_check"
            else None
        )
        letters = DeadLetterTopic(self._settings.kafka, installation, instance.name)
        return OversizedMessages(checkpoint, topics, self._sizes, letters, claims, instance.message)


def _switch_entry(instance: str, switch: SwitchNote) -> AuditEntry:
    after: dict[str, object] = {"source": switch.source} if switch.source else {}
    after |= {
        "to": switch.to,
        "place": switch.place,
        "epoch": switch.epoch,
        "lost": switch.lost,
        "left_out": switch.left_out,
    }
    return AuditEntry(
        switch.accepted_by or switch.asked_by or "relay",
        "source.switched",
        instance,
        {},
        after,
        switch.reason,
    )

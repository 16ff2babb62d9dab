"""One stretch of leadership: from the committed position on, until something ends it."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from time import monotonic, time
from typing import Final

import structlog

from relay.audit import AuditEntry, AuditTrail
from relay.claims import ClaimStore
from relay.dead_letters import DeadLetterTopic
from relay.errors import AskedToStop, BatchAborted, HistoryChanged, LeadershipLost, RelayError, StoreUnreachable, SwitchingSource
from relay.ha import Election
from relay.lookups import SourceLookups
from relay.model.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.answer import answered
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.compiled_events import event_scanner
from relay.pipeline.flow_control import FlowControl
from relay.pipeline.mapping_in_force import MappingInForce
from relay.pipeline.message_sizes import MessageSizes
from relay.pipeline.meter import Meter
from relay.pipeline.new_producer import new_producer
from relay.pipeline.operator_call import OperatorCall
from relay.pipeline.outbox import Outbox
from relay.pipeline.oversize import Oversize
from relay.pipeline.polite_end import end_at_border
from relay.pipeline.prepared import PreparedTransactions
from relay.pipeline.progress import Progress
from relay.pipeline.reader import ItemStream, Reader
from relay.pipeline.saved_position import position_lost
from relay.pipeline.skip_notes import SkipNotes
from relay.pipeline.source_failover import Chosen, SourceFailover
from relay.pipeline.spooling import Spooling
from relay.pipeline.table_names import TableNames, open_names
from relay.pipeline.topic_watch import watched
from relay.pipeline.topics import Topics
from relay.pipeline.walk import Walk
from relay.position import PREPARED, SCHEMA, KafkaPositionStore, KeptRecords, PositionRecord
from relay.refine import Refinements, configuration_of_rows
from relay.schema import CatalogReader, DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings, RelaySettings
from relay.source import ExcludedRange, SourceStream, ask_server_facts, open_source
from relay.state import InstanceStore, StartNote, SwitchNote

_IDLE_SECONDS: Final = 0.25

_log = structlog.stdlib.get_logger(__name__)


class Session:
    """Opens producer, position and source in this order, walks until stopped, and aborts what is open when it ends.

    `open_seconds` says afterwards how long the batch that was given up had been open.
    """

    def __init__(
        self,
        settings: RelaySettings,
        instance: InstanceSettings,
        election: Election,
        mapping: MappingInForce,
        notes: InstanceStore,
        meter: Meter,
        sizes: MessageSizes,
        excluded: Iterable[ExcludedRange],
        call: OperatorCall,
        flow: FlowControl,
        failover: SourceFailover,
        spooling: Spooling,
        doubtful: Iterable[TableId] = (),
    ) -> None:
        self._doubtful = tuple(doubtful)
        self.buffer = ChangeBuffer(instance.buffer, spooling.overdue if spooling.enabled else None)
        self.producer = new_producer(settings.installation, sizes.new_client(), instance)
        self.open_seconds = 0.0
        self._settings = settings
        self._instance = instance
        self._election = election
        self._mapping = mapping
        self._notes = notes
        self._meter = meter
        self._sizes = sizes
        self._excluded = tuple(excluded)
        self._call = call
        self._flow = flow
        self._store = KafkaPositionStore(settings.kafka, settings.installation, instance.name)
        self._failover = failover
        self._spooling = spooling

    def run(self, stop: threading.Event, running: Callable[[], None]) -> None:
        """Publish until `stop`, or until another relay should lead; `running` is called once rows flow.

        Raises every RelayError that ends a session.
        """
        with self._own_producer():
            with self._spooling.unless_soon():
                saved = answered(self._open_producer, stop, "Opening the producer")
            chosen = answered(lambda: self._failover.choose(saved), stop, "Choosing the source")
            with (
                closing(CatalogReader(chosen.settings)) as catalog,
                closing(SourceLookups(self._instance.lookups, chosen.settings)) as lookups,
                closing(answered(lambda: self._open_source(chosen), stop, "Opening the source")) as stream,
            ):
                self._meter.totals.source_connections += 1
                outbox = Outbox(self.producer, self.buffer, self._meter, stop)
                kept = {} if saved is None else saved.partitions
                topics = Topics(self._settings.kafka, self._instance, kept, self._sizes, in_use=self.producer.expect)
                names = answered(lambda: self._open_names(stream, chosen, catalog), stop, "Describing the source's tables")
                refinements = Refinements(self._instance, lookups.by_name)
                walk = self._walk(stream, chosen, catalog, outbox, topics, refinements, names)
                running()
                with self._failover.streaming(), watched(topics, self._settings.kafka, self._instance.name):
                    self._pump(stream, walk, outbox, stop, names)

    @contextmanager
    def _own_producer(self) -> Iterator[None]:
        """Close the producer at the end; not one that owes an answer, because closing throws away what a commit on its way still needs."""
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
        self._call.forget()
        self.producer.open()
        return self._saved_record()

    def _pump(self, stream: ItemStream, walk: Walk, outbox: Outbox, stop: threading.Event, names: TableNames | None) -> None:
        spooling = self._spooling
        look = (lambda: spooling.look(outbox.unanswered_seconds)) if spooling.enabled else None
        reader = Reader(self._instance.name, stream, self.buffer, spooling.begin, look, names)
        reader.start()
        ended_by, commit_unanswered = AskedToStop.code, False
        try:
            self._walk_to_the_end(walk, outbox, stop)
        except AskedToStop:
            # No call may follow an unanswered commit; the record tells the next start what became of it.
            commit_unanswered = True
            raise
        except RelayError as exc:
            ended_by = exc.code
            raise
        finally:
            reader.stop()
            if not commit_unanswered:
                self._abort(ended_by, stop)

    def _walk_to_the_end(self, walk: Walk, outbox: Outbox, stop: threading.Event) -> None:
        """Walk until something ends it; a commit on its way is waited for, because what ends it (a fence) goes before everything else."""
        try:
            self._walk_on(walk, stop)
            end_at_border(walk, self.buffer, outbox)
        except AskedToStop:
            raise
        except RelayError:
            outbox.finish()
            raise
        outbox.finish()

    def _walk_on(self, walk: Walk, stop: threading.Event) -> None:
        """Take items as they come. A half source transaction whose rest does not come must not hold others' rows back."""
        moved_at_s = monotonic()
        certain = self._instance.transaction.delivery == "at_least_once"  # nothing fences its producer
        while not stop.is_set() and not self._election.gives_way():
            if self._flow.paused:
                return
            if self._flow.holds_back(stop) or walk.take(self.buffer.take(_IDLE_SECONDS)):
                moved_at_s = monotonic()
            elif walk.progress.whole:
                walk.renew_mapping()
            elif monotonic() - moved_at_s > self._instance.transaction.source_stall_seconds:
                raise BatchAborted("The source stalled in the middle of a transaction.")
            if not self._election.leads(for_certain=certain):
                raise LeadershipLost(f"The election node of instance {self._instance.name} is gone, or nobody knows.")
            self._failover.check()
            if self._call.came():
                raise BatchAborted("An operator changed the position; reading goes on from the new one.")
            walk.end_batch_if_due(idle=self.buffer.empty)

    def _abort(self, ended_by: str, stop: threading.Event) -> None:
        """Abort what is open; an abort that is not answered must not hide what ended the session, and this producer is thrown away.

        A fence goes before everything else: who is told of it here must not open the next producer under the same leadership.
        """
        self.open_seconds = self.producer.open_seconds
        if self.open_seconds and self._instance.transaction.delivery == "exactly_once":
            self._meter.totals.aborts[ended_by] += 1
        try:
            answered(self.producer.abort, stop, "The abort")
        except (BatchAborted, AskedToStop) as exc:
            _log.warning("abort_unanswered", instance=self._instance.name, reason=exc.reason)

    def _saved_record(self) -> PositionRecord | None:
        made = self._store.ensure_topic()
        record = None if made else self._store.read()
        # Where there is a record, the note says nothing more: ZooKeeper's absence is no reason to stand still.
        noted = self._notes.started(self._instance.name) if record is None else None
        if lost := position_lost(self._instance.name, self._store.topic, noted, record):
            raise lost
        if record is not None and record.split is not None and record.split.configuration != configuration_digest(self._instance):
            raise HistoryChanged(
                f"Part of the transaction at {record.split.begin} was published under other filter or message settings.",
                remedy="Restore the settings until that transaction is published whole, then change them.",
            )
        return record

    def _open_source(self, chosen: Chosen) -> ItemStream:
        try:
            return self._open_chosen(chosen)
        except HistoryChanged as exc:
            if chosen.record is not None and self._failover.another_came(chosen.record):
                raise SwitchingSource("Another server came to the source's address meanwhile.") from exc
            raise

    def _open_chosen(self, chosen: Chosen) -> ItemStream:
        resume = None if chosen.record is None else chosen.record.source
        if resume is not None and (spooled := self._spooling.stream(chosen.settings, resume)) is not None:
            return spooled
        clock_limit_s = self._instance.transaction.max_clock_skew_seconds
        return open_source(
            chosen.settings,
            resume,
            self._instance.start,
            excluded=self._excluded,
            clock_limit_s=clock_limit_s,
            scanner=event_scanner(),
            replica=f"{self._settings.installation}.{self._instance.name}",
            whole_images=self._instance.message.row_image == "full",
        )

    def _audit(self, switch: SwitchNote, outbox: Outbox) -> None:
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        trail.ensure_topic()
        outbox.send(trail.message(_switch_entry(self._instance.name, switch)))

    def _open_names(self, stream: ItemStream, chosen: Chosen, catalog: CatalogReader) -> TableNames | None:
        records = KeptRecords(self._settings.kafka, self._settings.installation, SCHEMA, self._instance.name)
        # What lies on disk was read by another connection.
        server = stream.server if isinstance(stream, SourceStream) else ask_server_facts(chosen.settings)
        return open_names(records, chosen.settings, stream.start, server, catalog, chosen.record, self._doubtful)

    def _walk(
        self,
        stream: ItemStream,
        chosen: Chosen,
        catalog: CatalogReader,
        outbox: Outbox,
        topics: Topics,
        refinements: Refinements,
        names: TableNames | None,
    ) -> Walk:
        record = chosen.record or PositionRecord(stream.start, OrderPair(0, 0), epoch=0, change_time_ms=int(time() * 1000))
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        if record.skips:
            trail.ensure_topic()
        self._mapping.begin(record.split.mapping_set if record.split is not None else None, record.mapping_set)
        as_declared = self._instance.message.value_style == "canal"
        definitions = TableDefinitions(type_text, catalog, DeclaredTypes(), as_declared=as_declared)
        progress = Progress(
            record,
            configuration_digest(self._instance),
            self._mapping.number,
            keeps_gtids=self._instance.source.gtid,
            follows_names=names is not None,
        )
        walk = Walk(
            self._instance,
            outbox,
            self._store,
            progress,
            self._mapping,
            definitions,
            topics,
            self._meter,
            SkipNotes(trail, self._instance.name),
            PreparedTransactions(
                KeptRecords(self._settings.kafka, self._settings.installation, PREPARED, self._instance.name),
                self._settings.kafka.message_max_bytes // 2,
            ),
            self._oversize(topics, outbox),
            refinements,
            names,
        )
        if chosen.switch is not None:
            # Before a row of the other server: what comes next must find that it is the one.
            self._audit(chosen.switch, outbox)
            walk.commit_start()
            self._failover.switched(chosen.switch)
        if chosen.record is None or (names is not None and names.begun):
            walk.commit_start()
        self._note_start(record, needed=chosen.record is None)
        self._meter.resumed(record)
        return walk

    def _note_start(self, record: PositionRecord, *, needed: bool) -> None:
        """Note that the instance has a past; a ZooKeeper that was wiped has forgotten it. Raises StoreUnreachable where it is needed."""
        start = record.source
        try:
            self._notes.note_start(self._instance.name, StartNote(start.binlog.file, start.binlog.offset, start.gtid_set))
        except StoreUnreachable:
            if needed:
                raise

    def _oversize(self, topics: Topics, outbox: Outbox) -> Oversize | None:
        """None where a row that does not fit stops the instance."""
        instance, installation = self._instance, self._settings.installation
        if instance.oversize == "stop":
            return None
        claims = ClaimStore(instance.claims, installation, instance.name) if instance.oversize == "claim_check" else None
        letters = DeadLetterTopic(self._settings.kafka, installation, instance.name)
        return Oversize(outbox, topics, self._sizes, letters, claims, instance.message)


def _switch_entry(instance: str, switch: SwitchNote) -> AuditEntry:
    after = {"to": switch.to, "place": switch.place, "epoch": switch.epoch, "lost": switch.lost, "left_out": switch.left_out}
    return AuditEntry(switch.accepted_by or switch.asked_by or "relay", "source.switched", instance, {}, after, switch.reason)


def configuration_digest(instance: InstanceSettings) -> str:
    """A digest of everything that decides which messages a source transaction becomes."""
    parts = (instance.filter, instance.routing, instance.partition, instance.message)
    texts = [part.model_dump_json() for part in parts]
    if rows := configuration_of_rows(instance):
        texts.append(rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]

"""The walk of a change through the rooms: schema → order → route → partition → encode → publish → position."""

from collections.abc import Mapping
from time import monotonic, time
from typing import Final

from relay.errors import MappingLost, StoreUnreachable
from relay.model.change import Advance, FromSource, PreparedRows, Statement, TransactionBegin, TransactionEnd, XaStep
from relay.model.table import TableId
from relay.pipeline.active_mapping import MappingInForce
from relay.pipeline.buffer import Step
from relay.pipeline.checkpoint.commit_policy import BatchEnd, BatchView, batch_end
from relay.pipeline.checkpoint.part_guard import PartGuard
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipNotes
from relay.pipeline.checkpoint.skip_policy import LeftOut
from relay.pipeline.delivery.instance_stats import Meter
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.event_batches import OtherItem, run_at
from relay.pipeline.messages.oversized import Oversize, Whence
from relay.pipeline.messages.statements import statement_messages, statement_route, without_values
from relay.pipeline.messages.table_plan import TablePlans
from relay.pipeline.publishing.message_context import EventContexts
from relay.pipeline.publishing.row_publisher import RowWalk
from relay.pipeline.publishing.source_context import WalkedSource
from relay.pipeline.publishing.xa_publisher import XaWalk
from relay.position import KafkaPositionStore
from relay.refine import Refinements
from relay.route import Dropped
from relay.schema import StatementKind
from relay.settings import InstanceSettings

# While items come one after another, the batch's rules are looked at this often.
_LOOK_SECONDS: Final = 0.002
_LOOK_BYTES: Final = 1 << 20


class Walk:
    """Takes items in order and publishes what they amount to; used by one thread. `sources` are by name, a single one is called ""."""

    def __init__(
        self,
        settings: InstanceSettings,
        outbox: Outbox,
        store: KafkaPositionStore,
        progress: Progress,
        mapping: MappingInForce,
        sources: Mapping[str, WalkedSource],
        topics: Topics,
        meter: Meter,
        skip_notes: SkipNotes,
        parts: PartGuard,
        oversize: Oversize | None = None,
        refinements: Refinements | None = None,
    ) -> None:
        self.progress = progress
        self.meter = meter
        self._settings = settings
        self._outbox = outbox
        self._store = store
        self._mapping = mapping
        self._sources = sources
        first = progress.following if progress.following in sources else next(iter(sources))
        self._definitions = sources[first].definitions
        self._refinements = refinements or Refinements(settings, {})
        self._topics = topics
        self._skip_notes = skip_notes
        self._parts = parts
        self._oversize = oversize
        self._contexts = EventContexts(settings, progress, _now_ms())
        self._plans = {first: self._new_plans()}
        self._rows = RowWalk(settings, outbox, progress, self._contexts, meter, self._plans[first], skip_notes, oversize)
        self._xa_of = {
            name: XaWalk(each.prepared, self._rows, outbox, progress, self._look, self.commit_part) for name, each in sources.items()
        }
        self._xa = self._xa_of[first]
        self._skew_ms = int(settings.transaction.max_clock_skew_seconds * 1000)
        self._look_at_s = 0.0
        self._look_at_bytes = 0
        self._look_bytes = min(settings.transaction.busy_commit_bytes, settings.transaction.split_bytes, _LOOK_BYTES) // 16
        self._committed_at_s = monotonic()
        self._source_idle = False

    def take(self, step: Step) -> bool:
        """Do what the items ask for; False when there is none."""
        before = step.at
        self._contexts.publish_time_ms = _now_ms()
        while not step.done:
            step.at += self._whole_transactions(step) or self._run(step)
            self._look()
        return step.at > before

    def _run(self, step: Step) -> int:
        """Do what the next item asks for, with the row events that go with it; return how many there were."""
        each = run_at(step.items, step.at, self._rows.most_events, self._rows.most_bytes)
        if isinstance(each, list):
            self._source_idle = False
            self.progress.saw(each)
            self._rows.publish(each)
            return len(each)
        self._other(each)
        return 1

    def _whole_transactions(self, step: Step) -> int:
        if not self._rows.prints_whole_transactions:
            return 0
        if self.progress.whole:
            self.renew_mapping()
        items = self._rows.whole_transactions(step)
        if items:
            self._source_idle = False
        return items

    def _look(self) -> None:
        """While items come one after another, look at the batch's rules now and then."""
        if monotonic() >= self._look_at_s or self._rows.batch.event_bytes >= self._look_at_bytes or self._rows.batch.alone:
            self._contexts.publish_time_ms = _now_ms()
            self.end_batch_if_due(idle=False)

    def _other(self, item: OtherItem) -> None:
        self._source_idle = False
        match item:
            case TransactionBegin():
                self._begin(item)
            case TransactionEnd():
                self._end(item)
                self.meter.totals.source_transactions += 1
            case Statement():
                self.progress.saw((item,))
                self._statement(item)
            case PreparedRows():
                self.progress.saw((item,))
                self._xa.keep(item)
            case XaStep():
                self.progress.saw((item,))
                self._xa.step(item)
            case Advance():
                self._source_idle = not self.progress.advance(item)
            case FromSource():
                self._follow(item.source)

    def _follow(self, source: str) -> None:
        """What comes now is of this source of a group: its position, its tables and its prepared transactions."""
        self.progress.follow(source)
        self._definitions = self._sources[source].definitions
        self._xa = self._xa_of[source]
        if source not in self._plans:
            self._plans[source] = self._new_plans()
        self._rows.follow(self._plans[source])

    def end_batch_if_due(self, *, idle: bool) -> None:
        """Ask for the commit of the open batch when its rules say so; what comes while another one is unanswered joins one batch."""
        self._look_at_s = monotonic() + _LOOK_SECONDS
        self._look_at_bytes = self._rows.batch.event_bytes + self._look_bytes
        self._outbox.settle()
        if self._outbox.committing and not self._rows.batch.alone:
            return
        view = BatchView(
            messages=self._outbox.messages,
            size_bytes=self._rows.batch.event_bytes,
            open_seconds=self._outbox.open_seconds,
            whole=self.progress.whole,
            idle=idle or self._rows.batch.alone,
            moved=self.progress.moved,
            seconds_since_commit=monotonic() - self._committed_at_s,
        )
        end = batch_end(view, self._settings.transaction)
        if end is BatchEnd.PART:
            self._part_done()
        if end is not BatchEnd.NOT_YET:
            self._commit()
        elif view.whole and not view.messages:
            self._nothing_open(idle=idle)
        if idle:
            self._source_idle = False

    def renew_mapping(self) -> None:
        """Change over to a newer mapping set, between two source transactions and never inside one.

        Where no set may be put in force, what came before is committed first: a resumed transaction ends under its own set.
        """
        if not self.progress.between_transactions:
            return
        try:
            renewed = self._mapping.renew()
        except (MappingLost, StoreUnreachable):
            self._commit_before()
            raise
        if renewed:
            self._plans = {self.progress.following: self._new_plans()}
            self._rows.use(self._plans[self.progress.following])
            self.progress.publish_under(self._mapping.name)

    def _commit_before(self) -> None:
        """Commit the transactions before the one that comes next, if any are open, and wait until Kafka has them."""
        if self._outbox.messages or self.progress.moved:
            self._commit()
            self._outbox.land()

    def commit_start(self) -> None:
        """Write the resolved start position, the first record of an instance, and wait until Kafka has it."""
        self._commit()
        self._outbox.land()

    def commit_part(self) -> None:
        """Commit what was taken so far, a part of the open transaction included, and wait until Kafka has it.

        Rows of a prepared transaction that are read back from their topic must have been committed there.
        """
        self._part_done()
        self._commit()
        self._outbox.land()

    def _nothing_open(self, *, idle: bool) -> None:
        """All that was taken is done; a heartbeat that lies behind nothing in the buffer says that there is no more."""
        self.meter.done_up_to(self.progress.change_time_ms)
        if idle and self._source_idle:
            self.meter.caught_up(monotonic())

    def _part_done(self) -> None:
        """Let the next record tell of a part of the open transaction, if there is any, and no row of it was rolled back."""
        if (begin := self.progress.part_begin) is not None:
            self._parts.before_part(self.progress.following, begin)
            self.progress.part_done()

    def _begin(self, item: TransactionBegin) -> None:
        self.renew_mapping()
        if self._parts.reads_first(self.progress.following, item, self.progress.split):
            self._commit_before()
            self._parts.read(self.progress.following, item, self.progress.split)
        self.progress.start_transaction(item, self._contexts.publish_time_ms, self._skew_ms)

    def _end(self, item: TransactionEnd) -> None:
        progress = self.progress
        if progress.left_out is LeftOut.SKIPPED and progress.begin is not None:
            self._skip_notes.end(progress.begin, progress.following)
        progress.end_transaction(item)

    def _statement(self, item: Statement) -> None:
        ddl = without_values(self._definitions.apply(item), self._refinements)
        progress = self.progress
        if ddl.kind is StatementKind.IGNORED:
            return
        progress.items += 1
        self._rows.forget_tables()
        progress.count(1)
        if progress.left_out is not None:
            for table in ddl.tables if progress.left_out is LeftOut.SKIPPED else ():
                self._skip_notes.count(table, 1)
            return
        if progress.items <= progress.skip or not self._rows.filter.accepts_statement(ddl.tables, is_ddl=ddl.is_ddl):
            return
        destination = statement_route(ddl, self._rows.plans.router)
        if isinstance(destination, Dropped):
            return
        if ddl.is_ddl and self._settings.message.ddl == "drop":
            self.meter.drop(TableId(ddl.database, ddl.table), 'ddl = "drop" leaves its statements out.', "operation", 1)
            return
        self._commit_before_statement()
        real = TableId(ddl.database, ddl.table)
        context = self._contexts.of_statement(item, real)
        for message in statement_messages(
            ddl, destination, self._rows.plans.router, self._topics, self._settings.message, context, progress.order
        ):
            if self._oversize is None:
                self._rows.send(message)
            else:
                whence = Whence(real, destination.logical, progress.begin, context, destination.topics)
                self._oversize.send(message, whence, self._rows.batch)
        self._rows.batch.alone = True

    def _commit_before_statement(self) -> None:
        """A statement travels alone: what was sent before it becomes visible first."""
        if self._outbox.messages:
            self.progress.items -= 1
            self._part_done()
            self._commit()
            self.progress.items += 1

    def _commit(self) -> None:
        """Close the batch with the record of exactly what it holds. Raises AskedToStop, and what ended the batch before."""
        self.progress.placed(dict(self._topics.counts), dict(self._topics.placed_by))
        record, kept = self._store.keep_mappings(self.progress.record, self._mapping.documents)
        self.progress.keeps(record.kept_mappings)
        beside = [*self._skip_notes.taken(), *self._store.waypoints(record, _now_ms()), *kept]
        positions = record.positions
        for name, each in self._sources.items():
            if each.names is not None:
                beside += each.names.taken(positions[name].binlog)
        self._outbox.commit(self._store.message(record), record, self._rows.batch, beside)
        self.progress.moved = False
        self._rows.batch = OpenBatch()
        self._contexts.batch += 1
        self._committed_at_s = monotonic()

    def _new_plans(self) -> TablePlans:
        return TablePlans(self._settings, self._mapping.router, self._definitions, self._topics, self._refinements)


def _now_ms() -> int:
    return int(time() * 1000)

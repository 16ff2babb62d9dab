"""The walk of a change through the rooms: schema → order → route → partition → encode → publish → position."""

from collections.abc import Iterator, Sequence
from time import monotonic, time
from typing import Final

from relay.encode import headers_behind_order
from relay.model.change import Advance, Operation, RowsEvent, Statement, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage, Printed
from relay.model.position import OrderPair
from relay.model.table import TableId, TableMap
from relay.pipeline.batch_rules import BatchEnd, BatchView, batch_end
from relay.pipeline.buffer import Step
from relay.pipeline.event_contexts import EventContexts
from relay.pipeline.event_runs import MOST_BYTES, MOST_EVENTS, OtherItem, run_at
from relay.pipeline.left_out import LeftOut
from relay.pipeline.mapping_in_force import MappingInForce
from relay.pipeline.meter import Meter
from relay.pipeline.open_batch import OpenBatch
from relay.pipeline.outbox import Outbox
from relay.pipeline.oversize import Oversize, Whence
from relay.pipeline.packed_messages import packed_messages
from relay.pipeline.progress import Progress, change_time_ms
from relay.pipeline.published_changes import EventContext
from relay.pipeline.row_messages import row_messages
from relay.pipeline.skip_notes import SkipNotes
from relay.pipeline.statement_messages import statement_messages, statement_route
from relay.pipeline.table_plan import TablePlan, TablePlans
from relay.pipeline.topics import Topics
from relay.pipeline.unprintable_rows import rows_one_by_one
from relay.pipeline.whole_transactions import WholeTransactionPrinter
from relay.position import KafkaPositionStore
from relay.route import Dropped, TableFilter
from relay.schema import StatementKind, TableDefinitions
from relay.settings import InstanceSettings

# While items come one after another, the batch's rules are looked at this often.
_LOOK_SECONDS: Final = 0.002
_LOOK_BYTES: Final = 1 << 20

_OPERATION_FILTERED: Final = Dropped("the operation is filtered.", "operation")


class Walk:
    """Takes the items of one source in order and publishes what they amount to; used by one thread."""

    def __init__(
        self,
        settings: InstanceSettings,
        outbox: Outbox,
        store: KafkaPositionStore,
        progress: Progress,
        mapping: MappingInForce,
        definitions: TableDefinitions,
        topics: Topics,
        meter: Meter,
        skip_notes: SkipNotes,
        oversize: Oversize | None = None,
    ) -> None:
        self.progress = progress
        self.meter = meter
        self._settings = settings
        self._outbox = outbox
        self._store = store
        self._mapping = mapping
        self._definitions = definitions
        self._topics = topics
        self._skip_notes = skip_notes
        self._oversize = oversize
        self._filter = TableFilter(settings.filter)
        self._plans = self._new_plans()
        self._table: TableMap | None = None  # of the last event, whose plan is `_plan`
        self._plan: TablePlan | Dropped = _OPERATION_FILTERED
        alike = settings.message.headers == "default" and all(map(self._filter.accepts_operation, Operation))
        self._most_events = MOST_EVENTS if alike else 1
        self._contexts = EventContexts(settings, progress, _now_ms())
        self._whole = WholeTransactionPrinter(names_gtid=settings.source.gtid)
        self._batch = OpenBatch()
        self._skew_ms = int(settings.transaction.max_clock_skew_seconds * 1000)
        self._look_at_s = 0.0
        self._look_at_bytes = 0
        self._look_bytes = min(settings.transaction.busy_commit_bytes, settings.transaction.split_bytes, _LOOK_BYTES) // 16
        self._run_bytes = min(self._look_bytes, MOST_BYTES)
        self._committed_at_s = time()
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
        each = run_at(step.items, step.at, self._most_events, self._run_bytes)
        if isinstance(each, list):
            self._rows(each)
            return len(each)
        self._other(each)
        return 1

    def _whole_transactions(self, step: Step) -> int:
        """Publish the transactions that can be printed together; return how many items they had."""
        progress = self.progress
        if self._most_events == 1 or not progress.leaves_nothing_out:
            return 0
        self.renew_mapping()
        now_ms = self._contexts.publish_time_ms
        times_ms = now_ms, now_ms + self._skew_ms
        found = self._whole.take(step.items, step.at, self._run_bytes, progress.order, progress.epoch, times_ms, self._contexts.batch)
        if found is None or (self._oversize is not None and self._oversize.keeps_back(found.printed)):
            return 0
        self._source_idle = False
        for plan, messages in found.printed:
            self._outbox.send_printed(plan.lanes[0].topic, messages)
            self._batch.value_bytes += messages.value_bytes
            self._batch.undecodable_values += plan.rows.take_undecodable()
        progress.end_transactions(found.gtids, found.last_end, found.order, min(change_time_ms(found.last_begin), now_ms))
        self._batch.event_bytes += found.event_bytes
        self._batch.rows += found.rows
        self.meter.totals.source_transactions += found.transactions
        self.meter.totals.source_rows += found.rows
        self.meter.totals.source_bytes += found.event_bytes
        return found.items

    def _look(self) -> None:
        """While items come one after another, look at the batch's rules now and then."""
        if monotonic() >= self._look_at_s or self._batch.event_bytes >= self._look_at_bytes or self._batch.alone:
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
                self._statement(item)
            case Advance():
                self._source_idle = not self.progress.advance(item)

    def end_batch_if_due(self, *, idle: bool) -> None:
        """Ask for the commit of the open batch when its rules say so; what comes while another one is unanswered joins one batch."""
        self._look_at_s = monotonic() + _LOOK_SECONDS
        self._look_at_bytes = self._batch.event_bytes + self._look_bytes
        self._outbox.settle()
        if self._outbox.committing and not self._batch.alone:
            return
        view = BatchView(
            messages=self._outbox.messages,
            size_bytes=self._batch.event_bytes,
            open_seconds=self._outbox.open_seconds,
            whole=self.progress.whole,
            idle=idle or self._batch.alone,
            moved=self.progress.moved,
            seconds_since_commit=time() - self._committed_at_s,
        )
        end = batch_end(view, self._settings.transaction)
        if end is BatchEnd.PART:
            self.progress.part_done()
        if end is not BatchEnd.NOT_YET:
            self._commit()
        elif view.whole and not view.messages:
            self._nothing_open(idle=idle)
        if idle:
            self._source_idle = False

    def renew_mapping(self) -> None:
        """Change over to a newer mapping set, between two source transactions and never inside one."""
        if self.progress.between_transactions and self._mapping.renew():
            self._plans = self._new_plans()
            self._forget_tables()
            self.progress.mapping_set = self._mapping.number

    def commit_start(self) -> None:
        """Write the resolved start position, the first record of an instance, and wait until Kafka has it."""
        self._commit()
        self._outbox.land()

    def _nothing_open(self, *, idle: bool) -> None:
        """All that was taken is done; a heartbeat that lies behind nothing in the buffer says that there is no more."""
        self.meter.done_up_to(self.progress.change_time_ms)
        if idle and self._source_idle:
            self.meter.caught_up(time())

    def _begin(self, item: TransactionBegin) -> None:
        self.renew_mapping()
        self.progress.start_transaction(item, self._contexts.publish_time_ms, self._skew_ms)

    def _end(self, item: TransactionEnd) -> None:
        progress = self.progress
        if progress.left_out is LeftOut.SKIPPED and progress.begin is not None:
            self._skip_notes.end(progress.begin)
        progress.end_transaction(item)

    def _rows(self, events: Sequence[RowsEvent]) -> None:
        self._source_idle = False
        if self.progress.left_out is not None:
            self._leave_out(events, self.progress.left_out)
            return
        first = events[0]
        if first.table is not self._table:
            self._table, self._plan = first.table, self._plans.plan(first.table)
            self.meter.tables.add(first.table.id)
            if isinstance(self._plan, TablePlan):
                self._whole.know(first.table, self._plan)
        plan = self._plan
        if isinstance(plan, Dropped):
            self._drop(events, plan)
        elif not self._filter.accepts_operation(first.operation):
            self._drop(events, _OPERATION_FILTERED)
        else:
            self._publish(events, plan)
            self._batch.undecodable_values += plan.rows.take_undecodable()

    def _drop(self, events: Sequence[RowsEvent], dropped: Dropped) -> None:
        for event in events:
            count = self._plans.count(event)
            self.meter.drop(event.table.id, dropped.reason, dropped.cause, count)
            self._count(count)
            self._count_rows(count, event.size_bytes)

    def _leave_out(self, events: Sequence[RowsEvent], why: LeftOut) -> None:
        """Count rows that an operator has left out, so that those behind get the pairs that they would have had."""
        for event in events:
            count = self._plans.count(event)
            if why is LeftOut.SKIPPED:
                self.meter.drop(event.table.id, "a transaction is skipped by hand.", "skipped", count)
                self._skip_notes.count(event.table.id, count)
            self._count(count)
            self._count_rows(count, event.size_bytes)

    def _publish(self, events: Sequence[RowsEvent], plan: TablePlan) -> None:
        """Hand the events' messages over, in bulk where the table's printer can, else row by row."""
        context = self._contexts.of(events[0])
        while events:
            done = self._in_bulk(events, plan, context) or self._row_by_row(events[0], plan, context)
            events = events[done:]

    def _in_bulk(self, events: Sequence[RowsEvent], plan: TablePlan, context: EventContext) -> int:
        """Return how many of the events could be."""
        if plan.bulk is None:
            return 0
        tail = headers_behind_order(plan.tags, context.origin)
        done, rows, messages = plan.bulk.messages(events, context.frame, self.progress.order, self._skip, tail)
        if messages.number:
            self._send_printed(plan, messages, context)
        self._count(rows)
        self._count_published(rows, sum([event.size_bytes for event in events[:done]]))
        return done

    def _send_printed(self, plan: TablePlan, messages: Printed, context: EventContext) -> None:
        """Hand printed messages over."""
        lane = plan.lanes[0]
        if self._oversize is not None:
            self._oversize.send_printed(lane.topic, messages, self._whence(plan, context), self._batch)
            return
        self._outbox.send_printed(lane.topic, messages)
        self._batch.value_bytes += messages.value_bytes

    def _row_by_row(self, event: RowsEvent, plan: TablePlan, context: EventContext) -> int:
        """Return 1, the number of events."""
        if self._oversize is not None:
            self._keep_back(self._oversize, event, plan, context)
        else:
            for order, messages in self._messages(event, plan, context, self.progress.order, self._skip):
                self.progress.order = order
                for message in messages:
                    self._send_one(message)
        self._count_published(len(event.rows), event.size_bytes)
        return 1

    def _keep_back(self, oversize: Oversize, event: RowsEvent, plan: TablePlan, context: EventContext) -> None:
        """As row by row, past what no topic takes and what cannot be printed."""
        whence = self._whence(plan, context)

        def messages_of(part: RowsEvent, before: OrderPair, skip: int) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
            return self._messages(part, plan, context, before, skip)

        for order, made in rows_one_by_one(event, plan, messages_of, self.progress.order, self._skip):
            self.progress.order = order
            oversize.send_row(made, order, whence, self._batch)

    def _whence(self, plan: TablePlan, context: EventContext) -> Whence:
        return Whence(plan.definition.id, plan.destination.logical, self.progress.begin, context, plan.destination.topics)

    @property
    def _skip(self) -> int:
        """How many of the rows that come now are visible already."""
        return max(0, self.progress.skip - self.progress.items)

    def _count_published(self, rows: int, size_bytes: int) -> None:
        self._batch.event_bytes += size_bytes
        self._batch.rows += max(0, rows - self._skip)
        self._count_rows(rows, size_bytes)

    def _count_rows(self, rows: int, size_bytes: int) -> None:
        self.progress.items += rows
        self.meter.totals.source_rows += rows
        self.meter.totals.source_bytes += size_bytes

    def _messages(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, order: OrderPair, skip: int
    ) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
        settings = self._settings.message
        if settings.rows_per_message == "event":
            return packed_messages(event, plan, settings, context, order, skip, plan.limit_bytes)
        return row_messages(event, plan, settings, context, order, skip)

    def _statement(self, item: Statement) -> None:
        ddl = self._definitions.apply(item)
        progress = self.progress
        if ddl.kind is StatementKind.IGNORED:
            return
        progress.items += 1
        self._plans.forget()
        self._forget_tables()
        self._count(1)
        if progress.left_out is not None:
            for table in ddl.tables if progress.left_out is LeftOut.SKIPPED else ():
                self._skip_notes.count(table, 1)
            return
        if progress.items <= progress.skip or not self._filter.accepts_statement(ddl.tables, is_ddl=ddl.is_ddl):
            return
        destination = statement_route(ddl, self._plans.router)
        if isinstance(destination, Dropped):
            return
        self._commit_before_statement()
        context = self._contexts.of(item)
        for message in statement_messages(
            ddl, destination, self._plans.router, self._topics, self._settings.message, context, progress.order
        ):
            if self._oversize is None:
                self._send_one(message)
            else:
                real = TableId(ddl.database, ddl.table)
                whence = Whence(real, destination.logical, progress.begin, context, destination.topics)
                self._oversize.send(message, whence, self._batch)
        self._batch.alone = True

    def _send_one(self, message: OutboundMessage) -> None:
        self._outbox.send(message)
        self._batch.value_bytes += len(message.value or b"")

    def _commit_before_statement(self) -> None:
        """A statement travels alone: what was sent before it becomes visible first."""
        if self._outbox.messages:
            self.progress.items -= 1
            self.progress.part_done()
            self._commit()
            self.progress.items += 1

    def _count(self, changes: int) -> None:
        order = self.progress.order
        self.progress.order = OrderPair(order.execute_time, order.execute_position + changes)

    def _commit(self) -> None:
        """Close the batch with the record of exactly what it holds. Raises AskedToStop, and what ended the batch before."""
        self.progress.placed(dict(self._topics.counts))
        record = self.progress.record
        beside = [*self._skip_notes.taken(), *self._store.waypoints(record, _now_ms())]
        self._outbox.commit(self._store.message(record), record, self._batch, beside)
        self.progress.moved = False
        self._batch = OpenBatch()
        self._contexts.batch += 1
        self._committed_at_s = time()

    def _forget_tables(self) -> None:
        self._table = None
        self._whole.forget()

    def _new_plans(self) -> TablePlans:
        return TablePlans(self._settings, self._mapping.router, self._definitions, self._topics)


def _now_ms() -> int:
    return int(time() * 1000)

"""Rows of the source: route → partition → encode → publish, many together where a printer can."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from relay.encode import headers_behind_order
from relay.errors import NamesUnknown, RelayError
from relay.model.change import Operation, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import TableMap
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.changes import EventContext
from relay.pipeline.messages.event_batches import MOST_BYTES, MOST_EVENTS
from relay.pipeline.messages.oversized import MessageOrigin, OversizedMessages
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.printing.event_printer import EventPrinter
from relay.pipeline.messages.printing.printer_failures import printer_failed
from relay.pipeline.messages.printing.transaction_printer import WholeTransactionPrinter
from relay.pipeline.messages.refined import RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan, TablePlans
from relay.pipeline.messages.unencodable_rows import UnprintableRow, rows_one_by_one
from relay.pipeline.publishing.message_context import MessageContexts
from relay.refine import OPERATION, NotPublished, TableRefinement
from relay.route import Dropped, TableFilter
from relay.settings import InstanceSettings

Made = TypeVar("Made")

_OPERATION_OF_A_RULE: Final = Dropped(*OPERATION)
_OPERATION_FILTERED: Final = Dropped("the operation is filtered.", "operation")


class RowPublisher:
    """Puts the messages of rows into the checkpoint, and counts in both it and the statistics what
    became of each row.

    `filter`: which tables, operations and statements are published. `most_events` and `most_bytes`:
    so many events, or bytes as logged, are printed together. `plans`: how the tables of the present
    source are published, under the mapping set in force.
    """

    def __init__(
        self,
        settings: InstanceSettings,
        checkpoint: Checkpoint,
        contexts: MessageContexts,
        stats: InstanceStats,
        plans: TablePlans,
        oversize: OversizedMessages | None,
    ) -> None:
        self.filter = TableFilter(settings.filter)
        alike = settings.message.headers == "default" and all(
            map(self.filter.accepts_operation, Operation)
        )
        self.most_events = MOST_EVENTS if alike else 1
        self.most_bytes = min(
            settings.transaction.busy_commit_bytes // 16,
            settings.transaction.split_bytes // 16,
            MOST_BYTES,
        )
        self.plans = plans
        self._settings = settings
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._contexts = contexts
        self._stats = stats
        self._oversize = oversize
        self._table: TableMap | None = None  # of the last event, whose plan is `_plan`
        self._plan: TablePlan | Dropped = _OPERATION_FILTERED
        self._whole = WholeTransactionPrinter(names_gtid=settings.source.gtid)
        self.prints_whole_transactions = self._whole.able and self.most_events > 1
        self._skew_ms = int(settings.transaction.max_clock_skew_seconds * 1000)

    def use(self, plans: TablePlans) -> None:
        """Publish under these plans from now on."""
        self.plans = plans
        self._forget()

    def follow(self, plans: TablePlans) -> None:
        """The rows that come now are of another source of the group, whose table maps are its
        own.
        """
        self.plans = plans
        self._table = None

    def forget_tables(self) -> None:
        """A statement may have changed tables."""
        self.plans.forget()
        self._forget()

    def whole_transactions(self, chunk: Chunk) -> int:
        """Publish the transactions from the chunk's place on that can be printed together.

        Return how many items they had.
        """
        progress, checkpoint = self._progress, self._checkpoint
        if not progress.leaves_nothing_out:
            return 0
        now_ms = checkpoint.publish_time_ms
        times_ms = now_ms, now_ms + self._skew_ms
        found = self._whole.take(
            chunk.items,
            chunk.at,
            self.most_bytes,
            progress.order,
            progress.epoch,
            times_ms,
            checkpoint.batch_number,
        )
        if found is None or (
            self._oversize is not None and self._oversize.keeps_back(found.printed)
        ):
            return 0
        for plan, messages in found.printed:
            checkpoint.add_printed(plan.routes[0].topic, messages)
            self._stats.print(plan.definition.id, RowPath.COMPILED, "", messages.number)
            if undecodable := plan.rows.take_undecodable():
                checkpoint.count_undecodable(undecodable)
        checkpoint.close_whole_transactions(chunk, found)
        return found.items

    def publish(self, events: Sequence[RowsEvent]) -> None:
        """Publish the rows of events that go together, or count what is left out."""
        if self._progress.skip_reason is not None:
            self._skip(events, self._progress.skip_reason)
            return
        first = events[0]
        if first.table is not self._table:
            self._table, self._plan = first.table, self._planned(first)
            self._stats.tables.add(first.table.id)
            if isinstance(self._plan, TablePlan):
                self._whole.know(first.table, self._plan)
        plan = self._plan
        if isinstance(plan, Dropped):
            self._drop(events, plan)
        elif not self.filter.accepts_operation(first.operation):
            self._drop(events, _OPERATION_FILTERED)
        else:
            self._send(events, plan)
            if undecodable := plan.take_undecodable():
                self._checkpoint.count_undecodable(undecodable)

    def _planned(self, event: RowsEvent) -> TablePlan | Dropped:
        try:
            return self.plans.plan(event.table)
        except NamesUnknown as exc:
            exc.place, exc.source = str(event.position), self._progress.following
            raise

    def _drop(self, events: Sequence[RowsEvent], dropped: Dropped) -> None:
        for event in events:
            count = self.plans.count(event)
            self._stats.drop(event.table.id, dropped.reason, dropped.cause, count)
            self._checkpoint.count_left_out(count, event.size_bytes)

    def _skip(self, events: Sequence[RowsEvent], why: SkipReason) -> None:
        """Count rows that an operator has left out, so that those behind get the pairs that they
        would have had.
        """
        for event in events:
            count = self.plans.count(event)
            if why is SkipReason.SKIPPED:
                self._stats.drop(
                    event.table.id, "a transaction is skipped by hand.", "skipped", count
                )
                self._checkpoint.count_skipped(event.table.id, count)
            self._checkpoint.count_left_out(count, event.size_bytes)

    def _send(self, events: Sequence[RowsEvent], plan: TablePlan) -> None:
        """Hand the events' messages over, in bulk where the table's printer can, else row by
        row.
        """
        context = self._contexts.of(events[0])
        printer = plan.printer
        while events:
            if isinstance(printer, SlowReason):
                done, slow = 0, printer
            else:
                done, left = self._print_events(printer, events, plan, context)
                slow = left or SlowReason.VALUE
            if not done:
                self._row_by_row(events[0], plan, context, slow)
            events = events[done or 1 :]

    def _print_events(
        self,
        printer: EventPrinter,
        events: Sequence[RowsEvent],
        plan: TablePlan,
        context: EventContext,
    ) -> tuple[int, SlowReason | None]:
        """Return how many of the events could be printed, and why the next one could not."""
        tail = headers_behind_order(plan.tags, context.origin)
        skip = self._progress.to_skip
        done, rows, messages, left = printer.messages(
            events, context.frame, self._progress.order, skip, tail
        )
        if done:
            self._stats.print(plan.definition.id, printer.path, "", max(0, rows - skip))
        if messages.number and self._oversize is not None:
            self._oversize.send_printed(plan.routes[0].topic, messages, self._origin(plan, context))
        elif messages.number:
            self._checkpoint.add_printed(plan.routes[0].topic, messages)
        self._checkpoint.count_published(rows, sum([event.size_bytes for event in events[:done]]))
        return done, left

    def _row_by_row(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, slow: SlowReason
    ) -> None:
        """Publish the rows of an event by the readable path; `slow` says why.

        Raises PrinterFailed where that contradicts a printer.
        """
        if plan.refinement is not None:
            self._refined(event, plan, plan.refinement, context)
            return
        unprintable, order, skip = 0, self._progress.order, self._progress.to_skip
        if self._oversize is not None:
            order, unprintable = self._keep_back(self._oversize, event, plan, context)
        else:
            made = self._messages(event, plan, context, order, skip)
            for order, messages in _checked(event, made, masked=False):  # noqa: B007 - the last one is counted below
                for message in messages:
                    self._checkpoint.add(message)
        if slow is SlowReason.DAMAGED and not unprintable:
            raise printer_failed([event], "the fast printer")
        self._stats.print(
            plan.definition.id, RowPath.READABLE, slow, max(0, len(event.rows) - skip)
        )
        self._checkpoint.count_published(len(event.rows), event.size_bytes, order=order)

    def _refined(
        self, event: RowsEvent, plan: TablePlan, refinement: TableRefinement, context: EventContext
    ) -> None:
        """Row by row, past what rules, masks and transforms leave out; that is counted."""
        if not refinement.takes(event.operation):
            self._drop((event,), _OPERATION_OF_A_RULE)
            return
        rows = RefinedRows(
            plan, refinement, self._settings.message, context, keeps_back=self._oversize is not None
        )
        order = before = self._progress.order
        skip = self._progress.to_skip
        origin, left_out, published = self._origin(plan, context), 0, len(event.rows) - skip
        for order, made in _checked(event, rows.of(event, before, skip), masked=True):
            if isinstance(made, NotPublished):
                self._stats.drop(event.table.id, *made, 1)
                left_out += 1
            elif self._oversize is not None:
                self._oversize.send_row(made, order, origin)
            elif not isinstance(made, UnprintableRow):
                for message in made:
                    self._checkpoint.add(message)
        self._stats.print(
            event.table.id, RowPath.READABLE, SlowReason.REFINED, max(0, published - left_out)
        )
        self._checkpoint.count_published(len(event.rows), event.size_bytes, left_out, order)

    def _keep_back(
        self, oversize: OversizedMessages, event: RowsEvent, plan: TablePlan, context: EventContext
    ) -> tuple[OrderPair, int]:
        """Publish row by row; keep back rows that no topic takes or that cannot be printed.

        Return the order key of the last change, and how many rows could not be printed.
        """
        origin, unprintable = self._origin(plan, context), 0
        order = before = self._progress.order

        def messages_of(
            part: RowsEvent, before: OrderPair, skip: int
        ) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
            return self._messages(part, plan, context, before, skip)

        for order, made in rows_one_by_one(
            event, plan, messages_of, before, self._progress.to_skip
        ):
            unprintable += isinstance(made, UnprintableRow)
            oversize.send_row(made, order, origin)
        return order, unprintable

    def _origin(self, plan: TablePlan, context: EventContext) -> MessageOrigin:
        return MessageOrigin(
            plan.definition.id,
            plan.destination.logical,
            self._progress.begin,
            context,
            plan.destination.topics,
        )

    def _messages(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, order: OrderPair, skip: int
    ) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
        settings = self._settings.message
        if settings.rows_per_message == "event" and plan.keys.is_in_values:
            return packed_messages(event, plan, settings, context, order, skip, plan.limit_bytes)
        return row_messages(event, plan, settings, context, order, skip)

    def _forget(self) -> None:
        self._table = None
        self._whole.forget()


def _checked(event: RowsEvent, made: Iterator[Made], *, masked: bool) -> Iterator[Made]:
    """Yield what is made of an event's rows.

    Raises PrinterFailed for an exception that no event can cause.
    """
    try:
        yield from made
    except (RelayError, MemoryError):
        raise
    except Exception as exc:
        raise printer_failed([event], "the readable path", exc, masked=masked) from exc

"""Publishes rows: many together with a compiled printer if possible, otherwise one by one."""

from collections.abc import Sequence
from typing import Final

from relay.encode import headers_behind_order
from relay.errors import FormatsDiffer, NamesUnknown, PartitionsDiffer, Stop
from relay.model.change import Operation, RowsEvent
from relay.model.row_path import RowPath, SlowReason
from relay.model.table import TableId, TableMap
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.copying.window import Window
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.choice_of_format import some_share_frames
from relay.pipeline.messages.event_batches import MOST_BYTES, MOST_EVENTS
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.messages.printing.event_printer import EventPrinter
from relay.pipeline.messages.printing.transaction_printer import (
    PrintedTable,
    WholeTransactionPrinter,
)
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.table_plans import TablePlans
from relay.pipeline.publishing.message_context import MessageContexts
from relay.pipeline.publishing.order_keys import order_keys
from relay.pipeline.publishing.readable_rows import ReadableRows, origin_of
from relay.refine import OPERATION
from relay.route import UNMAPPED, Dropped, TableFilter
from relay.settings import InstanceSettings

_OPERATION_OF_A_RULE: Final = Dropped(*OPERATION)
_OPERATION_FILTERED: Final = Dropped("the operation is filtered.", "operation")


class RowPublisher:
    """Puts the messages of rows into the checkpoint, and counts what happened to each row.

    filter      which tables, operations and statements are published
    most_events how many row events are printed together at most
    most_bytes  how many bytes of the binlog are printed together at most
    plans       how the tables of the present source are published under the active mapping set
    copies      copies tables while rows are streamed; None: no copies
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
        alike = (
            settings.message.headers == "default"
            and some_share_frames(settings)
            and all(map(self.filter.accepts_operation, Operation))
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
        self._readable = ReadableRows(settings, checkpoint, stats, oversize)
        self.copies: TableCopies | None = None
        self._table: TableMap | None = None  # of the last event, whose plan is `_plan`
        self._plan: TablePlan | Dropped = _OPERATION_FILTERED
        self._whole = WholeTransactionPrinter(names_gtid=settings.source.gtid)
        self.prints_whole_transactions = self._whole.able and self.most_events > 1
        self._skew_ms = int(settings.transaction.max_clock_skew_seconds * 1000)

    def use(self, plans: TablePlans) -> None:
        """Publish under these plans from now on, after a change-over to another mapping set."""
        self.plans = plans
        self._stats.likeness.clear()
        self._forget()

    def follow(self, plans: TablePlans) -> None:
        """Publish under the plans of another source of the group, because the next rows are from
        that source.
        """
        self.plans = plans
        self._table = None

    def forget_tables(self) -> None:
        """Drop the plans of all tables, because a statement may have changed them."""
        self.plans.forget()
        self._forget()

    def whole_transactions(self, chunk: Chunk) -> int:
        """Publish the transactions from the chunk's present index on that can be printed together.
        Return how many items they had; 0 if there are none.
        """
        progress, checkpoint = self._progress, self._checkpoint
        if not progress.leaves_nothing_out or self.window is not None:
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
        if found is None or self._keeps_back(found.printed):
            return 0
        for plan, rows, messages in found.printed:
            checkpoint.add_printed(plan.routes[0].topic, messages)
            self._stats.print(plan.definition.id, RowPath.COMPILED, "", rows)
            if undecodable := plan.rows.take_undecodable():
                checkpoint.count_undecodable(undecodable)
        checkpoint.close_whole_transactions(chunk, found)
        return found.items

    def _keeps_back(self, printed: Sequence[PrintedTable]) -> bool:
        """Return whether a message is too large, so that all are printed one by one."""
        kept = self._oversize is not None and self._oversize.keeps_back(printed)
        if kept:
            self._whole.take_back()
        return kept

    @property
    def window(self) -> Window | None:
        """The window (changed keys) of the table chunk that is read now, or None."""
        return None if self.copies is None else self.copies.window

    def publish(self, events: Sequence[RowsEvent]) -> None:
        """Publish the rows of events that `run_at` put together, or count them if they are not
        published.
        """
        if self._progress.skip_reason is not None:
            self._skip(events, self._progress.skip_reason)
            return
        first = events[0]
        if first.table is not self._table:
            self._table, self._plan = first.table, self._planned(first)
            self._met(first.table, self._plan)
        plan, kept_back = self._plan, self._kept_back
        if isinstance(plan, Dropped):
            self._drop(events, plan)
        elif not self.filter.accepts_operation(first.operation):
            self._drop(events, _OPERATION_FILTERED)
        else:
            self._send(events, plan)
            if undecodable := plan.take_undecodable():
                self._checkpoint.count_undecodable(undecodable)
        if self.copies is not None:
            self.copies.changed(events, plan, kept_back=self._kept_back > kept_back)

    def _met(self, table: TableMap, plan: TablePlan | Dropped) -> None:
        """Note a table whose rows follow rows of another one."""
        self._stats.tables.add(table.id)
        if isinstance(plan, TablePlan):
            self._stats.likeness.publish(plan.destination.logical, table)
            if not plan.names_coordinates:
                self._whole.know(table, plan)
        elif plan.cause in UNMAPPED:
            self._stats.likeness.leave_out(table)

    @property
    def _kept_back(self) -> int:
        return 0 if self._oversize is None else self._oversize.kept_back

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
        for event in events:
            rows = self.plans.count(event) - self._progress.to_skip
            if why is SkipReason.SKIPPED and rows > 0:
                self.count_skipped(event.table.id, rows)
            self.leave_out(event, why)

    def leave_out(self, event: RowsEvent, why: SkipReason = SkipReason.SKIPPED) -> None:
        """Count the rows of an event as skipped. They take as many order keys as published rows do.
        So all later rows have the same order keys as without the skip. `why`: an operator skips the
        transaction, or it is before the position to which an operator moved.
        """
        if self.copies is not None:
            self.copies.skipped()
        rows = self.plans.count(event)
        self._checkpoint.count_left_out(rows, event.size_bytes, self._keys(event, rows, why))

    def count_skipped(self, table: TableId, rows: int) -> None:
        """Count rows that an operator skips, in the statistics and for the audit entry."""
        self._stats.drop(table, "an operator skipped the transaction.", "skipped", rows)
        self._checkpoint.count_skipped(table, rows)

    def _keys(self, event: RowsEvent, rows: int, why: SkipReason) -> int:
        """Return how many order keys the rows of a skipped event would have taken.

        An event that cannot be published takes one for each row: none of them ever was.
        """
        try:
            plan = self._planned(event)
            if isinstance(plan, Dropped) or not self.filter.accepts_operation(event.operation):
                return rows
            return order_keys(event, rows, plan, self._settings.message)
        except Stop:
            return rows
        except (FormatsDiffer, NamesUnknown, PartitionsDiffer):
            if why is SkipReason.SKIPPED:
                return rows
            raise

    def _send(self, events: Sequence[RowsEvent], plan: TablePlan) -> None:
        """Hand the events' messages over, in bulk where the table's printer can, else row by
        row.
        """
        if not plan.names_coordinates:
            self._send_alike(events, plan)
            return
        for event in events:
            self._send_alike((event,), plan)

    def _send_alike(self, events: Sequence[RowsEvent], plan: TablePlan) -> None:
        """Hand over the messages of events that share their metadata."""
        context = self._contexts.of(events[0], names_coordinates=plan.names_coordinates)
        printer = plan.printer
        while events:
            if isinstance(printer, SlowReason):
                done, slow = 0, printer
            else:
                done, left = self._print_events(printer, events, plan, context)
                slow = left or SlowReason.VALUE
            if not done:
                self._count_row_by_row(events[0], plan, context, slow)
            events = events[done or 1 :]

    def _print_events(
        self,
        printer: EventPrinter,
        events: Sequence[RowsEvent],
        plan: TablePlan,
        context: EventContext,
    ) -> tuple[int, SlowReason | None]:
        """Return how many of the events could be printed, and why the next one could not."""
        tail = headers_behind_order(plan.printed_headers, context.origin)
        skip = self._progress.to_skip
        printed = printer.messages(events, context.frame, self._progress.order, skip, tail)
        done, rows, messages, left, counted = printed
        if done:
            self._stats.print(plan.definition.id, printer.path, "", max(0, rows - skip))
        if messages.number and self._oversize is not None:
            origin = origin_of(plan, self._progress.begin, context)
            self._oversize.send_printed(plan.routes[0].topic, messages, origin)
        elif messages.number:
            self._checkpoint.add_printed(plan.routes[0].topic, messages)
        self._checkpoint.count_published(rows, sum([event.size_bytes for event in events[:done]]))
        for operation, (published, value_bytes) in counted.items():
            self._checkpoint.count_table(
                plan.destination.logical, operation, published, value_bytes
            )
        return done, left

    def _count_row_by_row(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, slow: SlowReason
    ) -> None:
        """Publish the rows of an event one by one, and count them by table."""
        if plan.refinement is not None and not plan.refinement.takes(event.operation):
            self._drop((event,), _OPERATION_OF_A_RULE)
            return
        rows, size_bytes = self._checkpoint.open_counts
        self._readable.publish(event, plan, context, slow)
        rows_now, bytes_now = self._checkpoint.open_counts
        self._checkpoint.count_table(
            plan.destination.logical, event.operation, rows_now - rows, bytes_now - size_bytes
        )

    def _forget(self) -> None:
        self._table = None
        self._whole.forget()

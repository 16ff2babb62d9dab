"""Publishes the rows of an event one by one, with the readable (not compiled) printers."""

from collections.abc import Iterator
from typing import TypeVar

from relay.errors import RelayError
from relay.model.change import RowsEvent, TransactionBegin
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.model.row_path import RowPath, SlowReason
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.oversized import MessageOrigin, OversizedMessages
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.printing.printer_failures import printer_failed
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.refined_row_messages import RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UnprintableRow, rows_one_by_one
from relay.refine import NotPublished, TableRefinement
from relay.settings import InstanceSettings

Made = TypeVar("Made")


class ReadableRows:
    """Puts the messages of rows into the checkpoint if no compiled printer prints their event.

    `makes_rows_alone`: a row is printed only after the row before it was counted, because its
    message contains the number of the row.
    """

    def __init__(
        self,
        settings: InstanceSettings,
        checkpoint: Checkpoint,
        stats: InstanceStats,
        oversize: OversizedMessages | None,
    ) -> None:
        self._settings = settings
        self._checkpoint = checkpoint
        self._progress = checkpoint.progress
        self._stats = stats
        self._oversize = oversize
        self.makes_rows_alone = False

    def publish(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, slow: SlowReason
    ) -> None:
        """Publish the rows of an event.

        event    the event
        plan     how its table is published
        context  the metadata of its messages
        slow     why the compiled printer did not print it

        Raises PrinterFailed if the compiled printer called the event damaged but all its rows could
        be printed, or if an unexpected exception shows a bug.
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
        """Publish the rows that rules, masks and transforms leave; count the others."""
        rows = RefinedRows(
            plan, refinement, self._settings.message, context, keeps_back=self._oversize is not None
        )
        order = before = self._progress.order
        skip = self._progress.to_skip
        origin = origin_of(plan, self._progress.begin, context)
        left_out, published = 0, len(event.rows) - skip
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
        origin, unprintable = origin_of(plan, self._progress.begin, context), 0
        order = before = self._progress.order

        def messages_of(
            part: RowsEvent, before: OrderPair, skip: int
        ) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
            return self._messages(part, plan, context, before, skip)

        for order, made in rows_one_by_one(
            event,
            plan,
            messages_of,
            before,
            self._progress.to_skip,
            together=not self.makes_rows_alone,
        ):
            unprintable += isinstance(made, UnprintableRow)
            oversize.send_row(made, order, origin)
        return order, unprintable

    def _messages(
        self, event: RowsEvent, plan: TablePlan, context: EventContext, order: OrderPair, skip: int
    ) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
        settings = self._settings.message
        if settings.rows_per_message == "event" and plan.keys.is_in_values:
            return packed_messages(event, plan, settings, context, order, skip, plan.limit_bytes)
        return row_messages(event, plan, settings, context, order, skip)


def origin_of(
    plan: TablePlan, begin: TransactionBegin | None, context: EventContext
) -> MessageOrigin:
    """Return where messages of a table come from, for dead letters.

    plan     how the table is published
    begin    the begin of their source transaction; None: they belong to no source transaction
    context  the metadata of their event
    """
    return MessageOrigin(
        plan.definition.id, plan.destination.logical, begin, context, plan.destination.topics
    )


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

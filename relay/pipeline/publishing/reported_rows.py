"""Publishes the rows of an instance that also publishes BEGIN and END messages. Each row has
headers that name its source transaction (ADR 72).
"""

from collections.abc import Sequence
from dataclasses import replace

from relay.encode import Origin
from relay.model.change import RowsEvent
from relay.pipeline.checkpoint.reporting_checkpoint import ReportingCheckpoint
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.messages.choice_of_format import numbers_rows
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.table_plans import TablePlans
from relay.pipeline.publishing.message_context import MessageContexts
from relay.pipeline.publishing.row_publisher import RowPublisher
from relay.settings import InstanceSettings


class ReportedContexts(MessageContexts):
    """Returns the metadata of events, with headers that name the source transaction."""

    def __init__(self, settings: InstanceSettings, checkpoint: ReportingCheckpoint) -> None:
        super().__init__(settings, checkpoint, checkpoint.next_number)
        self._reports = checkpoint

    def of(self, item: RowsEvent, *, names_coordinates: bool) -> EventContext:
        """Return the metadata of a row event of the open transaction.

        `names_coordinates`: its messages contain the binlog coordinates of the event. Raises
        BatchAborted if no transaction is open.
        """
        context = super().of(item, names_coordinates=names_coordinates)
        origin = context.origin if isinstance(context.origin, Origin) else None
        return EventContext(context.frame, replace(self._reports.membership, origin=origin))


class ReportedRows(RowPublisher):
    """A RowPublisher that reports the logical table of the next rows to the checkpoint.

    It never prints several transactions together, because the headers of their rows differ. If
    messages contain the row's number in its transaction, each row is printed only after the row
    before it was counted.
    """

    def __init__(
        self,
        settings: InstanceSettings,
        checkpoint: ReportingCheckpoint,
        stats: InstanceStats,
        plans: TablePlans,
        oversize: OversizedMessages | None,
    ) -> None:
        contexts = ReportedContexts(settings, checkpoint)
        super().__init__(settings, checkpoint, contexts, stats, plans, oversize)
        self._reports = checkpoint
        self.prints_whole_transactions = False
        self._readable.makes_rows_alone = numbers_rows(settings)

    def _send(self, events: Sequence[RowsEvent], plan: TablePlan) -> None:
        self._reports.publishes(plan.destination.logical, plan.routes[0].topic)
        super()._send(events, plan)

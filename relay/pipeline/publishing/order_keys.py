"""Counts the order keys that rows take when they are published. Rows that are skipped or read again
take as many.
"""

from collections.abc import Sequence

from relay.model.change import Operation, RowChange, RowsEvent
from relay.pipeline.messages.published_changes import known_rows
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UNPRINTABLE
from relay.refine import NotPublished
from relay.settings import MessageSettings


def order_keys(event: RowsEvent, rows: int, plan: TablePlan, settings: MessageSettings) -> int:
    """Return how many order keys the rows of an event take.

    event     the event
    rows      number of its rows
    plan      how its table is published
    settings  the settings of messages

    A split update takes two order keys, and each row of a table with a transform takes a fixed
    number. Only updates are decoded. Raises the errors of decoding, and RowImageIncomplete.
    """
    refinement = plan.refinement
    if refinement is not None and not refinement.takes(event.operation):
        return rows
    if refinement is not None and refinement.pairs:
        return rows * refinement.pairs
    if event.operation is not Operation.UPDATE:
        return rows
    omitted = () if refinement is None else refinement.omitted
    return sum(_keys(change, plan) for change in known_rows(event, settings, omitted))


def _keys(change: RowChange, plan: TablePlan) -> int:
    try:
        return sum(2 if plan.splits(each) else 1 for each in _published(change, plan)) or 1
    except UNPRINTABLE:
        return 1


def _published(change: RowChange, plan: TablePlan) -> Sequence[RowChange]:
    """Return the changes that rules leave of a change; none if it is not published."""
    if plan.refinement is None:
        return (change,)
    changes = plan.refinement.changes(change)
    return () if isinstance(changes, NotPublished) else changes

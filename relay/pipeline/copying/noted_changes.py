"""The changes of a copied table that have a message.

All others invalidate the rows that were read.
"""

from collections.abc import Sequence

from relay.encode import completed
from relay.errors import RelayError
from relay.model.change import RowChange, RowsEvent
from relay.model.value import ABSENT
from relay.pipeline.copying.window import Window
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UNPRINTABLE
from relay.refine import NotPublished, TableRefinement
from relay.route import Dropped, TableFilter


def note_changes(
    window: Window, events: Sequence[RowsEvent], plan: TablePlan | Dropped, accepted: TableFilter
) -> None:
    """Record in the window the changes of one table and operation.

    A message that lacks columns (`row_image = "partial"`) does not replace the row that was read.
    """
    first = events[0]
    if first.table.id != window.table:
        return
    window.check_layout(first.table)
    left_out = isinstance(plan, Dropped) or not accepted.accepts_operation(first.operation)
    refinement = None if isinstance(plan, Dropped) else plan.refinement
    for event in events:
        if left_out or (refinement is not None and not refinement.takes(event.operation)):
            window.note(event.rows, has_message=False)
        else:
            for change in event.rows:
                has_message = _is_whole(change, refinement) and (
                    refinement is None or _has_message(change, refinement)
                )
                window.note((change,), has_message=has_message)


def _is_whole(change: RowChange, refinement: TableRefinement | None) -> bool:
    """Return whether every column is known that a message of the change has."""
    after = completed(change).after or ()
    if ABSENT not in after:
        return True
    omitted = frozenset() if refinement is None else refinement.omitted
    return all(value is not ABSENT or ordinal in omitted for ordinal, value in enumerate(after))


def _has_message(change: RowChange, refinement: TableRefinement) -> bool:
    """Return whether a change gets a message; False if only printing it would show this.

    A transform may fail, or return another result when it is called again.
    """
    if refinement.pairs is not None:
        return False
    try:
        return not isinstance(refinement.changes(change), NotPublished)
    except (RelayError, *UNPRINTABLE):
        return False

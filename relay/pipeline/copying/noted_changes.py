"""Records the changes of a table while one of its chunks is read, and whether they have a message.

A change without a message makes the chunk invalid: its rows may be older than the change.
"""

from collections.abc import Sequence
from typing import Final

from relay.encode import completed
from relay.errors import RelayError
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.value import ABSENT
from relay.pipeline.copying.window import Window
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UNPRINTABLE
from relay.refine import NotPublished, TableRefinement
from relay.route import Dropped, TableFilter

_INTEGERS: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})
"""Types of key columns whose texts are compared as numbers."""


def note_changes(
    window: Window,
    events: Sequence[RowsEvent],
    plan: TablePlan | Dropped,
    accepted: TableFilter,
    *,
    kept_back: bool = False,
) -> None:
    """Record the changes of `events` in the window: the keys that changed while the chunk was read.

    window     the window of the chunk that is read
    events     row events of one table and one operation
    plan       how the table is published, or why it is not
    accepted   the instance's filter of tables and operations
    kept_back  True: some of the changes are dead letters instead of messages

    If the last change of a key has a message, the row that the chunk has for this key is dropped,
    because consumers get the newer row from the message. The message must have all columns. A
    change whose message lacks columns (`row_image = "partial"`) is therefore recorded as a change
    without a message.
    """
    first = events[0]
    if first.table.id != window.table:
        return
    window.check_layout(first.table)
    left_out = (
        kept_back or isinstance(plan, Dropped) or not accepted.accepts_operation(first.operation)
    )
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


def moves_unseen(
    progress: SnapshotProgress,
    events: Sequence[RowsEvent],
    plan: TablePlan | Dropped,
    accepted: TableFilter,
    *,
    kept_back: bool,
) -> bool:
    """Return whether a change may move a row into the copied part of a table, without a message
    that has all columns.

    The table must then be read again: neither the stream nor a later chunk would publish that row.
    A change that a row condition or a transform leaves out does not count, because a chunk would
    leave the row out too.

    progress  the progress of the copy, with its last copied key

    The other parameters are those of `note_changes`.
    """
    first = events[0]
    if (
        first.operation is not Operation.UPDATE
        or not progress.after
        or progress.table != str(first.table.id)
        or isinstance(plan, Dropped)
    ):
        return False
    refinement = plan.refinement
    left_out = (
        kept_back
        or not accepted.accepts_operation(first.operation)
        or (refinement is not None and not refinement.takes(first.operation))
    )
    if not left_out and all(event.images_at is not None for event in events):
        return False
    names = [column.name.lower() for column in plan.definition.map.columns]
    if any(name.lower() not in names for name in progress.key):
        return True
    ordinals = [names.index(name.lower()) for name in progress.key]
    return any(
        (left_out or not _is_whole(change, refinement)) and _moves(change, ordinals, progress)
        for event in events
        for change in event.rows
    )


def _moves(change: RowChange, ordinals: Sequence[int], progress: SnapshotProgress) -> bool:
    """Return whether a change gives its row another key that may be in the copied part."""
    before, after = completed(change)
    if before is None or after is None:
        return False
    former, present = ([row[at] for at in ordinals] for row in (before, after))
    if former == present and ABSENT not in former:
        return False
    kinds = {kind.partition("(")[0].partition(" ")[0] for kind in progress.key_types}
    numbers = [each for each in present if isinstance(each, int)]
    comparable = kinds <= _INTEGERS and len(numbers) == len(progress.after)
    return not comparable or numbers <= [int(each) for each in progress.after]


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

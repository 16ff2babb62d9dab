"""One row event → the changes that are published of it, each with its order pair.

What packed and single messages share.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from relay.encode import (
    MessageFrame,
    Origin,
    RowEncoder,
    RowHistory,
    completed,
    lacking_columns,
    tag_headers,
    unknown_headers,
)
from relay.errors import RowImageIncomplete, SchemaMismatch
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.pipeline.messages.table_plan import PlannedChange, TablePlan, changed_columns
from relay.route import field_tags_for
from relay.settings import MessageSettings

_HIDDEN: Final = "!hidden!"
"""What MySQL's names of hidden columns begin with."""
_HIDDEN_REMEDY: Final = (
    "Drop the functional index, or upgrade the source to a version of MySQL that logs no hidden "
    "columns. Then start the instance from a "
    "place behind that change and copy the table anew."
)


@dataclass(frozen=True, slots=True)
class EventContext:
    """What an event's messages say besides its rows. `origin` is None with the default headers."""

    frame: MessageFrame
    origin: Origin | None


class PublishedChange(NamedTuple):
    """A row of the event by its number, or one half of an update that is split.

    A half is a delete or an insert of its own.

    `marks` are headers for what the binlog does not say of it, and for a history row; mostly there
    is none. `history` prints a history row, and is None for a current one.
    """

    number: int
    change: RowChange
    order: OrderPair
    is_half: bool
    marks: Headers = ()
    history: RowHistory | None = None

    def encoder(self, plan: TablePlan) -> RowEncoder:
        """Return what prints the row."""
        return plan.rows if self.history is None else self.history.rows


def known_rows(
    event: RowsEvent, settings: MessageSettings, omitted: Collection[int] = ()
) -> Sequence[RowChange]:
    """Return the rows with all that is known of them.

    Raises RowImageIncomplete where that is less than asked for.

    `omitted`: ordinals of columns that no message has, and that rows may therefore lack.
    """
    if event.images_at is not None:
        return event.rows
    rows = [completed(change) for change in event.rows]
    # All rows of one event have the same columns, so the first one tells.
    lacking = (
        [ordinal for ordinal in lacking_columns(rows[0]) if ordinal not in omitted] if rows else []
    )
    if settings.row_image == "full" and lacking:
        _refuse_hidden(event)
        names = ", ".join(event.table.columns[ordinal].name for ordinal in lacking)
        raise RowImageIncomplete(
            f"A row of {event.table.id} at {event.position} lacks columns: {names}."
        )
    return rows


def _refuse_hidden(event: RowsEvent) -> None:
    """Raise SchemaMismatch where a table map names hidden columns of functional indexes (MySQL
    8.0.17), which rows do not hold.
    """
    hidden = [column.name for column in event.table.columns if column.name.startswith(_HIDDEN)]
    if hidden:
        what = (
            f"The table map of {event.table.id} at {event.position} names {', '.join(hidden)}, "
            f"hidden columns of a functional index"
        )
        raise SchemaMismatch(
            f"{what} that rows do not hold: MySQL 8.0.17 writes them.", remedy=_HIDDEN_REMEDY
        )


def published_changes(
    event: RowsEvent, rows: Sequence[RowChange], plan: TablePlan, before: OrderPair
) -> Iterator[PublishedChange]:
    """Yield what is published of an event with these known rows, the first pair just after
    `before`.
    """
    time_ms, position = before.execute_time, before.execute_position
    for number, change in enumerate(rows):
        parts = plan.parts(change)
        for part in parts:
            position += 1
            yield _published(
                event, number, part, OrderPair(time_ms, position), is_half=len(parts) > 1
            )


def _published(
    event: RowsEvent, number: int, part: PlannedChange, order: OrderPair, *, is_half: bool
) -> PublishedChange:
    change, history = part
    marks = () if history is None else history.headers
    if event.images_at is None:
        marks = (*marks, *unknown_headers(change, [column.name for column in event.table.columns]))
    return PublishedChange(number, change, order, is_half, marks, history)


def header_sets(
    published: PublishedChange, plan: TablePlan, settings: MessageSettings
) -> tuple[Headers, ...]:
    """What the messages of a change have behind their order: one set of tags a message, and what
    marks the row.
    """
    sets = tag_sets(published.change, plan, settings)
    return tuple((*each, *published.marks) for each in sets) if published.marks else sets


def tag_sets(change: RowChange, plan: TablePlan, settings: MessageSettings) -> tuple[Headers, ...]:
    """One set of tags a message; field tags join the table's, or get messages of their own."""
    if not plan.destination.tags.fields:
        return (plan.tags,)
    fields = field_tags_for(plan.destination, changed_columns(change, plan.definition))
    if settings.field_tags == "separate":
        return (plan.tags, *(tag_headers((tag,)) for tag in fields))
    return (tag_headers(tuple(dict.fromkeys(plan.destination.tags.table + fields))),)

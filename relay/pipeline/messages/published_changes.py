"""Splits one row event into its published changes, each with its order key.

Messages with one row and packed messages with several rows both use it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from relay.encode import (
    Membership,
    MessageFrame,
    Origin,
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
from relay.pipeline.messages.row_form import RowForm
from relay.pipeline.messages.table_plan import PlannedChange, TablePlan, changed_columns
from relay.route import field_tags_for
from relay.settings import MessageSettings

_HIDDEN: Final = "!hidden!"
"""Prefix of MySQL's names of hidden columns."""
_HIDDEN_REMEDY: Final = (
    "Drop the functional index, or upgrade the source to a version of MySQL that logs no hidden "
    "columns. Then start the instance after "
    "that change and copy the table again."
)


@dataclass(frozen=True, slots=True)
class EventContext:
    """The metadata that all messages of an event share.

    frame   the fields of message values, such as times and GTID
    origin  gives further headers; None: the settings require none
    """

    frame: MessageFrame
    origin: Origin | Membership | None


class PublishedChange(NamedTuple):
    """A published change: a row of the event, or one half (delete or insert) of a split update.

    number   the index of the row in the event
    change   the change
    order    its order key
    is_half  True: it is a half of a split update
    marks    headers for values that the binlog lacks and for history rows; usually empty
    history  how the history row is published; None: a current row
    """

    number: int
    change: RowChange
    order: OrderPair
    is_half: bool
    marks: Headers = ()
    history: RowHistory | None = None


def known_rows(
    event: RowsEvent, settings: MessageSettings, omitted: Collection[int] = ()
) -> Sequence[RowChange]:
    """Return the rows of an event with all values that the binlog has for them.

    event     the event
    settings  the settings of messages
    omitted   ordinals of columns that may be missing, because no message has them

    Raises RowImageIncomplete if another column is missing and `row_image` is "full".
    """
    if event.images_at is not None:
        return event.rows
    rows = [completed(change) for change in event.rows]
    # All rows of one event have the same columns, so the first one decides.
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
    """Raise SchemaMismatch if a table map names hidden columns of functional indexes (MySQL
    8.0.17), which rows do not hold.
    """
    hidden = [column.name for column in event.table.columns if column.name.startswith(_HIDDEN)]
    if hidden:
        what = (
            f"The table map of {event.table.id} at {event.position} names {', '.join(hidden)}, "
            f"hidden columns of a functional index"
        )
        raise SchemaMismatch(
            f"{what} that rows do not have: MySQL 8.0.17 writes them.", remedy=_HIDDEN_REMEDY
        )


def published_changes(
    event: RowsEvent, rows: Sequence[RowChange], plan: TablePlan, before: OrderPair
) -> Iterator[PublishedChange]:
    """Yield the published changes of an event.

    event   the event
    rows    its rows
    plan    how its table is published
    before  the order key after which the order keys of the changes follow
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
    published: PublishedChange, plan: TablePlan, form: RowForm, settings: MessageSettings
) -> tuple[Headers, ...]:
    """Return the headers that follow the order header: one set for each message of the change.

    published  the change
    plan       how the table is published
    form       the format of the messages, with its own headers
    settings   the settings of messages

    A set has tags, the headers of the format, and the marks of the row.
    """
    sets = tag_sets(published.change, plan, form, settings)
    return tuple((*each, *published.marks) for each in sets) if published.marks else sets


def tag_sets(
    change: RowChange, plan: TablePlan, form: RowForm, settings: MessageSettings
) -> tuple[Headers, ...]:
    """Return tag headers and the format's headers: one set for each message of the change.

    With `field_tags = "separate"` each field tag gets a separate message; otherwise one set has
    all tags. The parameters are those of `header_sets`, with the row change itself.
    """
    own = form.headers
    if not plan.destination.tags.fields:
        return ((*plan.tags, *own) if own else plan.tags,)
    fields = field_tags_for(plan.destination, changed_columns(change, plan.definition))
    if settings.field_tags == "separate":
        return ((*plan.tags, *own), *((*tag_headers((tag,)), *own) for tag in fields))
    return ((*tag_headers(tuple(dict.fromkeys(plan.destination.tags.table + fields))), *own),)

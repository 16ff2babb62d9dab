"""One row event → the changes that are published of it, each with its order pair; what packed and single messages share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relay.encode import MessageFrame, Origin, completed, lacks_columns, split_update, tag_headers, unknown_headers
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers
from relay.model.position import OrderPair
from relay.pipeline.table_plan import TablePlan, changed_columns
from relay.route import field_tags_for
from relay.settings import MessageSettings


@dataclass(frozen=True, slots=True)
class EventContext:
    """What an event's messages say besides its rows. `origin` is None with the default headers."""

    frame: MessageFrame
    origin: Origin | None


class PublishedChange(NamedTuple):
    """A row of the event by its number, or one half of an update that is split; a half is a delete or an insert of its own.

    `unknown` is the header for what the binlog does not say of it; mostly there is none.
    """

    number: int
    change: RowChange
    order: OrderPair
    is_half: bool
    unknown: Headers = ()


def known_rows(event: RowsEvent, settings: MessageSettings) -> Sequence[RowChange]:
    """Return the rows with all that is known of them. Raises RowImageIncomplete where that is less than asked for."""
    if event.images_at is not None:
        return event.rows
    rows = [completed(change) for change in event.rows]
    # All rows of one event have the same columns, so the first one tells.
    if settings.row_image == "full" and rows and lacks_columns(rows[0]):
        raise RowImageIncomplete(f"A row of {event.table.id} at {event.position} lacks columns.")
    return rows


def published_changes(event: RowsEvent, rows: Sequence[RowChange], plan: TablePlan, before: OrderPair) -> Iterator[PublishedChange]:
    """Yield what is published of an event with these known rows, the first pair just after `before`."""
    time_ms, position = before.execute_time, before.execute_position
    for number, change in enumerate(rows):
        if plan.splits(change):
            deleted, inserted = split_update(change)
            yield _published(event, number, deleted, OrderPair(time_ms, position + 1), is_half=True)
            position += 2
            yield _published(event, number, inserted, OrderPair(time_ms, position), is_half=True)
        else:
            position += 1
            yield _published(event, number, change, OrderPair(time_ms, position), is_half=False)


def _published(event: RowsEvent, number: int, change: RowChange, order: OrderPair, *, is_half: bool) -> PublishedChange:
    if event.images_at is not None:
        return PublishedChange(number, change, order, is_half)
    return PublishedChange(number, change, order, is_half, unknown_headers(change, [column.name for column in event.table.columns]))


def header_sets(published: PublishedChange, plan: TablePlan, settings: MessageSettings) -> tuple[Headers, ...]:
    """What the messages of a change have behind their order: one set of tags a message, and what is unknown of the row."""
    sets = tag_sets(published.change, plan, settings)
    return tuple((*each, *published.unknown) for each in sets) if published.unknown else sets


def tag_sets(change: RowChange, plan: TablePlan, settings: MessageSettings) -> tuple[Headers, ...]:
    """One set of tags a message; field tags join the table's, or get messages of their own."""
    if not plan.destination.tags.fields:
        return (plan.tags,)
    fields = field_tags_for(plan.destination, changed_columns(change, plan.definition))
    if settings.field_tags == "separate":
        return (plan.tags, *(tag_headers((tag,)) for tag in fields))
    return (tag_headers(tuple(dict.fromkeys(plan.destination.tags.table + fields))),)

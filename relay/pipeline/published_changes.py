"""One row event → the changes that are published of it, each with its order pair; what packed and single messages share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from relay.encode import MessageFrame, Origin, split_update, tag_headers
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers
from relay.model.position import OrderPair
from relay.model.value import ABSENT
from relay.pipeline.table_plan import TablePlan, changed_columns
from relay.route import field_tags_for
from relay.settings import MessageSettings


@dataclass(frozen=True, slots=True)
class EventContext:
    """What an event's messages say besides its rows. `origin` is None with the default headers."""

    frame: MessageFrame
    origin: Origin | None


class PublishedChange(NamedTuple):
    """A row of the event by its number, or one half of an update that is split; a half is a delete or an insert of its own."""

    number: int
    change: RowChange
    order: OrderPair
    is_half: bool


def published_changes(event: RowsEvent, plan: TablePlan, settings: MessageSettings, before: OrderPair) -> Iterator[PublishedChange]:
    """Yield what is published of an event, the first pair just after `before`. Raises RowImageIncomplete."""
    if settings.row_image == "full":
        check_images(event)
    time_ms, position = before.execute_time, before.execute_position
    for number, change in enumerate(event.rows):
        if plan.splits(change):
            deleted, inserted = split_update(change)
            yield PublishedChange(number, deleted, OrderPair(time_ms, position + 1), is_half=True)
            position += 2
            yield PublishedChange(number, inserted, OrderPair(time_ms, position), is_half=True)
        else:
            position += 1
            yield PublishedChange(number, change, OrderPair(time_ms, position), is_half=False)


def tag_sets(change: RowChange, plan: TablePlan, settings: MessageSettings) -> tuple[Headers, ...]:
    """One set of tags a message; field tags join the table's, or get messages of their own."""
    if not plan.destination.tags.fields:
        return (plan.tags,)
    fields = field_tags_for(plan.destination, changed_columns(change, plan.definition))
    if settings.field_tags == "separate":
        return (plan.tags, *(tag_headers((tag,)) for tag in fields))
    return (tag_headers(tuple(dict.fromkeys(plan.destination.tags.table + fields))),)


def check_images(event: RowsEvent) -> None:
    """Raise RowImageIncomplete where rows lack columns; those of one event have the same, so the first one tells."""
    if event.rows and any(ABSENT in image for image in (event.rows[0].before, event.rows[0].after) if image is not None):
        raise RowImageIncomplete(f"A row of {event.table.id} at {event.position} lacks columns.")

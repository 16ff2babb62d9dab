"""One row event → its messages: the rooms from schema to encode, in their order."""

from collections.abc import Iterator
from dataclasses import dataclass

from relay.encode import MessageFrame, Origin, message_headers, split_update, tag_headers
from relay.errors import RowImageIncomplete
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers, OutboundMessage
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


def row_messages(
    event: RowsEvent, plan: TablePlan, settings: MessageSettings, context: EventContext, before: OrderPair, skip: int
) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
    """Yield the messages of each change with its order pair, the first one just after `before`.

    The first `skip` rows are counted, but without messages: a transaction that was published in part is read again.
    """
    if settings.row_image == "full":
        _check_images(event)
    encoder = plan.rows.event(event.rows)
    order = before
    for number, change in enumerate(event.rows):
        halves = split_update(change) if plan.splits(change) else (change,)
        for published in halves:
            order = OrderPair(order.execute_time, order.execute_position + 1)
            if number < skip:
                yield order, []
                continue
            frame = context.frame
            value = encoder.encode((number,), frame) if published is change else plan.rows.encode((published,), frame)
            yield order, list(_of_one_change(published, value, plan, settings, context.origin, order))


def _of_one_change(
    change: RowChange, value: bytes, plan: TablePlan, settings: MessageSettings, origin: Origin | None, order: OrderPair
) -> Iterator[OutboundMessage]:
    key = plan.keys.encode(change)
    row = change.before if change.after is None else change.after
    for lane in plan.lanes:
        partition = lane.partition(row or ())
        for tags in _tag_sets(change, plan, settings):
            headers = message_headers(order, tags, origin)
            yield OutboundMessage(lane.topic, partition, key, value, headers)
            if settings.tombstones and change.after is None and key is not None:
                yield OutboundMessage(lane.topic, partition, key, None, headers)


def _tag_sets(change: RowChange, plan: TablePlan, settings: MessageSettings) -> list[Headers]:
    """One set of tags a message; field tags join the table's, or get messages of their own."""
    if not plan.destination.tags.fields:
        return [plan.tags]
    fields = field_tags_for(plan.destination, changed_columns(change, plan.definition))
    if settings.field_tags == "separate":
        return [plan.tags, *(tag_headers((tag,)) for tag in fields)]
    return [tag_headers(tuple(dict.fromkeys(plan.destination.tags.table + fields)))]


def _check_images(event: RowsEvent) -> None:
    """All rows of one event have the same columns, so the first one tells."""
    if event.rows and any(ABSENT in image for image in (event.rows[0].before, event.rows[0].after) if image is not None):
        raise RowImageIncomplete(f"A row of {event.table.id} at {event.position} lacks columns.")

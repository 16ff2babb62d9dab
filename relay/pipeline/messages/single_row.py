"""One row event → its messages, one row each: the rooms from schema to encode, in their order."""

from collections.abc import Iterator

from relay.encode import message_headers
from relay.model.change import RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.pipeline.messages.changes import (
    EventContext,
    PublishedChange,
    header_sets,
    known_rows,
    published_changes,
)
from relay.pipeline.messages.table_plan import TablePlan
from relay.settings import MessageSettings


def row_messages(
    event: RowsEvent,
    plan: TablePlan,
    settings: MessageSettings,
    context: EventContext,
    before: OrderPair,
    skip: int,
) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
    """Yield the messages of each change with its order pair, the first one just after `before`.

    The first `skip` rows are counted, but without messages: a transaction that was published in
    part is read again.
    """
    rows = known_rows(event, settings)
    encoder = plan.rows.event(event.rows if plan.rows.prints_images else rows)
    for published in published_changes(event, rows, plan, before):
        if published.number < skip:
            yield published.order, []
        elif published.is_half or published.history is not None:
            value = published.encoder(plan).encode((published.change,), context.frame)
            yield published.order, list(_of_one_change(published, value, plan, settings, context))
        else:
            value = encoder.encode((published.number,), context.frame)
            yield published.order, list(_of_one_change(published, value, plan, settings, context))


def _of_one_change(
    published: PublishedChange,
    value: bytes,
    plan: TablePlan,
    settings: MessageSettings,
    context: EventContext,
) -> Iterator[OutboundMessage]:
    change = published.change
    key = (plan.keys if published.history is None else published.history.keys).encode(change)
    for route in plan.routes:
        partition = route.partition(change)
        for tags in header_sets(published, plan, settings):
            headers = message_headers(published.order, tags, context.origin)
            yield OutboundMessage(route.topic, partition, key, value, headers)
            if settings.tombstones and change.after is None and key is not None:
                yield OutboundMessage(route.topic, partition, key, None, headers)

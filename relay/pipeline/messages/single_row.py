"""Makes messages with one row each from a row event."""

from collections.abc import Iterator

from relay.encode import EventRows, message_headers
from relay.model.change import RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair
from relay.pipeline.messages.published_changes import (
    EventContext,
    PublishedChange,
    header_sets,
    known_rows,
    published_changes,
)
from relay.pipeline.messages.row_form import RowForm
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
    """Yield (order key, messages) for each published change of the event.

    event     the row event
    plan      how its table is published
    settings  the settings of messages
    context   the metadata of the event's messages
    before    the order key before the event
    skip      number of first rows that take order keys but get no messages, because they were
              published before the transaction was read again
    """
    rows = known_rows(event, settings)
    printers = [
        (form, form.rows.event(event.rows if form.rows.prints_images else rows))
        for form in plan.forms
    ]
    for published in published_changes(event, rows, plan, before):
        made: list[OutboundMessage] = []
        if published.number >= skip:
            for form, encoder in printers:
                value = _value(published, form, encoder, context)
                made += _of_one_change(published, value, plan, form, settings, context)
        yield published.order, made


def _value(
    published: PublishedChange, form: RowForm, encoder: EventRows, context: EventContext
) -> bytes:
    if published.is_half or published.history is not None:
        return form.encoder(published.history).encode(
            (published.change,), context.frame, published.order
        )
    return encoder.encode((published.number,), context.frame, published.order)


def _of_one_change(
    published: PublishedChange,
    value: bytes,
    plan: TablePlan,
    form: RowForm,
    settings: MessageSettings,
    context: EventContext,
) -> Iterator[OutboundMessage]:
    change = published.change
    key = (plan.keys if published.history is None else published.history.keys).encode(change)
    for route in form.routes:
        partition = route.partition(change)
        for tags in header_sets(published, plan, form, settings):
            headers = message_headers(published.order, tags, context.origin)
            yield OutboundMessage(route.topic, partition, key, value, headers)
            if settings.tombstones and change.after is None and key is not None:
                yield OutboundMessage(
                    route.topic, partition, key, None, form.without_value(headers)
                )

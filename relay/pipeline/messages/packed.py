"""Makes messages with several rows from one row event, as Canal packs them.

Consecutive rows of one partition with the same tags share a message, so every partition keeps the
order of the binlog. Each half of a split update has a separate message. No message has a key. All
topics of such a table have the format canal-json: the settings refuse packed messages in other
formats.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from relay.encode import EventRows, packed_headers
from relay.model.change import RowsEvent
from relay.model.message import Headers, OutboundMessage
from relay.model.positions.position import OrderPair
from relay.pipeline.messages.published_changes import (
    EventContext,
    PublishedChange,
    header_sets,
    known_rows,
    published_changes,
)
from relay.pipeline.messages.table_plan import TablePlan
from relay.settings import MessageSettings

_RECORD_BYTES: Final = 512
"""Upper bound of the bytes that Kafka's record and batch add to value and headers."""


@dataclass(slots=True)
class _Run:
    """Rows that become one message, or one for each set of tags."""

    tags: tuple[Headers, ...]
    changes: list[PublishedChange]


def packed_messages(
    event: RowsEvent,
    plan: TablePlan,
    settings: MessageSettings,
    context: EventContext,
    before: OrderPair,
    skip: int,
    largest_bytes: int,
) -> Iterator[tuple[OrderPair, list[OutboundMessage]]]:
    """Yield (order key of the last change taken so far, messages that are complete now).

    event          the row event
    plan           how its table is published
    settings       the settings of messages
    context        the metadata of the event's messages
    before         the order key before the event
    skip           number of first rows that take order keys but get no messages, because they were
                   published before the transaction was read again
    largest_bytes  the largest message; only a message with a single row may be larger
    """
    rows = known_rows(event, settings)
    encoder = plan.rows.event(event.rows if plan.rows.prints_images else rows)
    packing = _Packing(plan, settings, context, encoder, largest_bytes)
    order = before
    for published in published_changes(event, rows, plan, before):
        order = published.order
        if published.number >= skip:
            yield order, list(packing.take(published))
    yield order, list(packing.rest())


class _Packing:
    """The open runs of one event, by topic and partition."""

    def __init__(
        self,
        plan: TablePlan,
        settings: MessageSettings,
        context: EventContext,
        encoder: EventRows,
        largest_bytes: int,
    ) -> None:
        self._plan = plan
        self._settings = settings
        self._context = context
        self._encoder = encoder
        self._largest_bytes = largest_bytes
        self._runs: dict[tuple[str, int], _Run] = {}

    def take(self, published: PublishedChange) -> Iterator[OutboundMessage]:
        """Add a change to the messages that are being collected; yield the messages that this
        change completes.
        """
        tags = header_sets(published, self._plan, self._plan.forms[0], self._settings)
        for route in self._plan.routes:
            place = route.topic, route.partition(published.change)
            run = self._runs.get(place)
            if run is not None and not published.is_half and run.tags == tags:
                run.changes.append(published)
                continue
            if run is not None:
                yield from self._messages(place, self._runs.pop(place))
            if published.is_half:
                yield from self._messages(place, _Run(tags, [published]))
            else:
                self._runs[place] = _Run(tags, [published])

    def rest(self) -> Iterator[OutboundMessage]:
        """Yield the messages that were not completed by a later change."""
        for place, run in self._runs.items():
            yield from self._messages(place, run)
        self._runs.clear()

    def _messages(self, place: tuple[str, int], run: _Run) -> Iterator[OutboundMessage]:
        undecodable = self._plan.undecodable
        value = self._value(run.changes)
        orders = [each.order for each in run.changes]
        headers = [packed_headers(orders, tags, self._context.origin) for tags in run.tags]
        size_bytes = len(value) + max(map(_size_bytes, headers)) + _RECORD_BYTES
        if size_bytes > self._largest_bytes and len(run.changes) > 1:
            self._plan.count_undecodable(undecodable)  # the halves count again
            half = len(run.changes) // 2
            yield from self._messages(place, _Run(run.tags, run.changes[:half]))
            yield from self._messages(place, _Run(run.tags, run.changes[half:]))
            return
        for each in headers:
            yield OutboundMessage(*place, None, value, each)

    def _value(self, changes: list[PublishedChange]) -> bytes:
        if changes[0].is_half or changes[0].history is not None:
            encoder = self._plan.forms[0].encoder(changes[0].history)
            return encoder.encode(
                [each.change for each in changes], self._context.frame, changes[0].order
            )
        return self._encoder.encode(
            [each.number for each in changes], self._context.frame, changes[0].order
        )


def _size_bytes(headers: Headers) -> int:
    return sum(len(name) + len(value) for name, value in headers)

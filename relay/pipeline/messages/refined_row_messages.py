"""Makes the messages of a row event of a table with rules, masks or a transform, row by row."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from relay.encode import message_headers, packed_headers, unknown_headers
from relay.errors import RelayError, TransformFailed, ValueNotPrintable
from relay.model.change import RowChange, RowsEvent
from relay.model.message import Headers, OutboundMessage
from relay.model.positions.position import OrderPair
from relay.pipeline.messages.published_changes import EventContext, known_rows, tag_sets
from relay.pipeline.messages.row_form import RowForm
from relay.pipeline.messages.table_plan import PlannedChange, TablePlan
from relay.pipeline.messages.unencodable_rows import UNPRINTABLE, UnprintableRow, row_values
from relay.refine import NotPublished, TableRefinement
from relay.settings import MessageSettings


class RefinedRow(NamedTuple):
    """The result for one source row.

    order  the order key of its last change
    made   its messages; or, instead of messages, why the row is not published or cannot be printed
    """

    order: OrderPair
    made: list[OutboundMessage] | NotPublished | UnprintableRow


class RefinedRows:
    """Makes the messages of the rows of one event, under the table's `refinement`.

    `keeps_back`: a row that cannot be printed is returned as an UnprintableRow; otherwise its error
    is raised.
    """

    def __init__(
        self,
        plan: TablePlan,
        refinement: TableRefinement,
        settings: MessageSettings,
        context: EventContext,
        *,
        keeps_back: bool,
    ) -> None:
        self._plan = plan
        self._refinement = refinement
        self._names = [column.name for column in refinement.published.map.columns]
        self._settings = settings
        self._context = context
        self._caught: tuple[type[Exception], ...] = (
            (TransformFailed, *UNPRINTABLE) if keeps_back else ()
        )

    def of(self, event: RowsEvent, before: OrderPair, skip: int) -> Iterator[RefinedRow]:
        """Yield the result for each row of the event; the first order key follows `before`.

        The first `skip` rows have only an order key and no messages: they are already published.
        """
        order = before
        for number, change in enumerate(
            known_rows(event, self._settings, self._refinement.omitted)
        ):
            undecodable = self._plan.undecodable
            row = self._row(event, change, order)
            order = row.order
            if number < skip or isinstance(row.made, UnprintableRow):
                self._plan.count_undecodable(undecodable)
            yield RefinedRow(order, []) if number < skip else row

    def _row(self, event: RowsEvent, change: RowChange, before: OrderPair) -> RefinedRow:
        keys = self._refinement.pairs or 1
        try:
            changes = self._refinement.changes(change)
            if isinstance(changes, NotPublished):
                return RefinedRow(_behind(before, keys), changes)
            splits = sum(map(self._plan.splits, changes))
            keys = self._refinement.pairs or len(changes) + splits
            return RefinedRow(_behind(before, keys), self._messages(changes, before))
        except self._caught as exc:
            # The row takes its order keys nevertheless, as when it is skipped or read again.
            return RefinedRow(_behind(before, keys), self._unprintable(exc, event, change))

    def _messages(self, changes: Sequence[RowChange], before: OrderPair) -> list[OutboundMessage]:
        parts = [part for each in changes for part in self._plan.parts(each)]
        return [
            message
            for pairs, part in enumerate(parts, 1)
            for message in self._of_one(part, _behind(before, pairs))
        ]

    def _of_one(self, part: PlannedChange, order: OrderPair) -> Iterator[OutboundMessage]:
        """Placed and tagged by the row as it is, and written down as it may be seen."""
        plan, settings, origin = self._plan, self._settings, self._context.origin
        change, history = part
        shown = self._refinement.shown(change)
        keys, marks = (plan.keys, ()) if history is None else (history.keys, history.headers)
        unknown = unknown_headers(shown, self._names) if settings.row_image == "partial" else ()
        packed = settings.rows_per_message == "event" and plan.keys.is_in_values
        key = None if packed else keys.encode(shown)
        for form in plan.forms:
            value = form.encoder(history).encode((shown,), self._context.frame, order)
            for own in tag_sets(change, plan, form, settings):
                tags = (*own, *marks, *unknown)
                headers = (
                    packed_headers([order], tags, origin)
                    if packed
                    else message_headers(order, tags, origin)
                )
                yield from self._to_topics(change, key, value, form, headers)

    def _to_topics(
        self, change: RowChange, key: bytes | None, value: bytes, form: RowForm, headers: Headers
    ) -> Iterator[OutboundMessage]:
        """Yield the message for each topic of a format, with its tombstone."""
        for route in form.routes:
            partition = route.partition(change)
            yield OutboundMessage(route.topic, partition, key, value, headers)
            if self._settings.tombstones and change.after is None and key is not None:
                yield OutboundMessage(
                    route.topic, partition, key, None, form.without_value(headers)
                )

    def _unprintable(self, error: Exception, event: RowsEvent, change: RowChange) -> UnprintableRow:
        """Return the row as it was read, without values that a mask or a field list hides."""
        reason = error.reason if isinstance(error, RelayError) else f"{type(error).__name__}."
        code = error.code if isinstance(error, RelayError) else ValueNotPrintable.code
        hidden = [
            column.name
            for ordinal, column in enumerate(event.table.columns)
            if self._refinement.hides(ordinal)
        ]
        values = row_values(event.table, change)
        for image in (values["before"], values["after"]):
            for name in hidden:
                if image is not None:
                    image.pop(name, None)
        try:
            key = (
                None
                if self._refinement.pairs
                else self._plan.parts(change)[-1]
                .keys(self._plan)
                .encode(self._refinement.shown(change))
            )
        except UNPRINTABLE:
            key = None
        return UnprintableRow(code, reason, key, orjson.dumps({**values, "hidden": hidden}))


def _behind(order: OrderPair, pairs: int) -> OrderPair:
    return OrderPair(order.execute_time, order.execute_position + pairs)

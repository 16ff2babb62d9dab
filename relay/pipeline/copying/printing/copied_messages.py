"""Makes messages from the rows of a chunk, with the encoders of live rows. All messages of a chunk
have the same order key.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import urandom
from typing import Final

from relay.encode import EventCoordinates, MessageFrame, Origin
from relay.envelope import Header
from relay.errors import RelayError, SnapshotRefused
from relay.kafka import message_bytes
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import TableId
from relay.pipeline.messages.oversized import MessageOrigin
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.refined_row_messages import RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UNPRINTABLE
from relay.refine import NotPublished
from relay.route import Dropped, Route, Router
from relay.schema import CopiedTable
from relay.settings import InstanceSettings

MARK: Final = ((Header.SNAPSHOT.value, b"true"),)
"""The header of every copied row."""
_SECRET: Final = urandom(32)
"""Of this process alone, for digests of keys that messages may hide."""


class RedirectedRouter(Router):
    """Routes tables as the given router does, but to one fixed topic instead of the mapped ones."""

    def __init__(self, router: Router, topic: str) -> None:
        self.mapping = router.mapping
        self._router = router
        self._topic = topic

    def route(self, real: TableId) -> Route:
        """Return the route that the given router has for a real table, with the fixed topic in
        place of its topics. Raises the errors of that router.
        """
        route = self._router.route(real)
        return route if isinstance(route, Dropped) else replace(route, topics=(self._topic,))


@dataclass(frozen=True, slots=True)
class CopyMoment:
    """The fields that all messages of a chunk share.

    at               the position between two source transactions at which the chunk is published
    before           the order key after which the order key of the messages follows
    batch            the number of the batch in this run
    publish_time_ms  the publishing time in Unix milliseconds
    server_id        the `server_id` of the source
    mapping_set      the number of the active mapping set
    """

    at: BinlogPosition
    before: OrderPair
    batch: int
    publish_time_ms: int
    server_id: int
    mapping_set: int

    def context(self, instance: InstanceSettings, real: TableId) -> EventContext:
        """Return the metadata of the chunk's messages, for rows of the real table `real`.

        It has no GTID, because copied rows belong to no source transaction.
        """
        frame = MessageFrame(
            event_time_ms=self.publish_time_ms,
            gtid="",
            batch=self.batch,
            publish_time_ms=self.publish_time_ms,
            coordinates=EventCoordinates(self.server_id, self.at.file, self.at.offset),
            snapshot=True,
        )
        if instance.message.headers == "default":
            return EventContext(frame, None)
        origin = Origin(
            instance=instance.name,
            real=real,
            server_id=self.server_id,
            position=self.at,
            gtid="",
            mapping_set=self.mapping_set,
            failed=False,
            renamed=None,
        )
        return EventContext(frame, origin)


class CopiedMessages:
    """Makes the messages of the rows of one chunk. `order` is the order key of all of them."""

    def __init__(
        self,
        instance: InstanceSettings,
        table: CopiedTable,
        plan: TablePlan,
        moment: CopyMoment,
    ) -> None:
        self.context = moment.context(instance, table.map.id)
        self.origin = MessageOrigin(
            table.map.id, plan.destination.logical, None, self.context, plan.destination.topics
        )
        self._settings = instance.message
        self._limits = instance.oversize == "stop"
        self._plan = plan
        self._key = table.ordinals
        self._before = moment.before
        self.order = OrderPair(moment.before.execute_time, moment.before.execute_position + 1)
        self._event = RowsEvent(
            Operation.INSERT, table.map, (), moment.publish_time_ms // 1000, moment.at, 0
        )

    def of(self, change: RowChange) -> list[OutboundMessage]:
        """Return the messages of a row; an empty list if a filter rule drops the row.

        Raises SnapshotRefused for a row that no message can hold, and the errors of a transform.
        """
        self.context.frame.copied_row = self._identity(change)
        try:
            made = [self._marked(each) for each in self._made(change)]
        except UNPRINTABLE as exc:
            reason = exc.reason if isinstance(exc, RelayError) else f"{type(exc).__name__}: {exc}"
            raise SnapshotRefused(
                f"A row of {self._event.table.id} cannot be printed: {reason}"
            ) from exc
        if self._limits:
            for message in made:
                self._check_size(message)
        return made

    def _identity(self, change: RowChange) -> bytes:
        """Return what distinguishes the row from equal rows of the topic, for the ids of messages.

        Rules may hide the key or make rows equal. A digest that nobody else can compute stands for
        the key then: an id must not show by trial which key was masked.
        """
        table = str(self._event.table.id).encode()
        if self._plan.refinement is None:  # the message has the key
            return table
        row = change.after or ()
        key = repr([row[at] for at in self._key]).encode()
        return table + hmac.digest(_SECRET, key, "sha256")

    def check_sizes(self, printed: PrintedMessages) -> None:
        """Raise SnapshotRefused if one of the messages is too large for its topic."""
        if self._limits and printed.value_bytes > self._plan.limit_bytes // 2:
            for message in printed.each(self._plan.routes[0].topic):
                self._check_size(message)

    def _made(self, change: RowChange) -> Iterator[OutboundMessage]:
        event, plan = self._event._replace(rows=(change,)), self._plan
        if plan.refinement is None:
            for _, messages in row_messages(
                event, plan, self._settings, self.context, self._before, 0
            ):
                yield from messages
            return
        if not plan.refinement.takes(Operation.INSERT):
            return
        rows = RefinedRows(plan, plan.refinement, self._settings, self.context, keeps_back=False)
        for row in rows.of(event, self._before, 0):
            if isinstance(row.made, list):
                yield from row.made
            elif not isinstance(row.made, NotPublished):
                raise SnapshotRefused(f"A row of {event.table.id} cannot be printed.")

    def _check_size(self, message: OutboundMessage) -> None:
        size, limit = message_bytes(message), self._plan.limit_bytes
        if size > limit:
            raise SnapshotRefused(
                f"A row of {self._event.table.id} has {size} bytes, and {message.topic} accepts "
                f"at most {limit}.",
                remedy="Raise max.message.bytes of the topic, or choose another `oversize` than "
                '"stop".',
            )

    @staticmethod
    def _marked(message: OutboundMessage) -> OutboundMessage:
        return replace(message, headers=(*message.headers, *MARK))

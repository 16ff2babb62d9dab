"""What becomes of messages that no topic takes as they are, and of rows of which no message can be
made.
"""

from collections.abc import Iterable, Iterator
from time import time
from typing import NamedTuple, Protocol

import orjson
import structlog

from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.encode import encode_statement, message_headers
from relay.envelope import Header, MessageType, claim_text, parse_order
from relay.errors import MessageTooLarge
from relay.kafka import message_bytes
from relay.model.change import TransactionBegin
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.changes import EventContext
from relay.pipeline.messages.statements import statement_places
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UnprintableRow
from relay.settings import MessageSettings

_log = structlog.stdlib.get_logger(__name__)


class MessageSink(Protocol):
    """What takes the messages, and counts what became of them: the checkpoint."""

    def add(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""

    def add_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch."""

    def add_claim(self, message: OutboundMessage) -> None:
        """Put a message into the open batch whose value is in the store of large values."""

    def count_dead_letter(self, code: str) -> None:
        """Count a row that went to the dead letters."""


class MessageOrigin(NamedTuple):
    """Where a message comes from: names, its source transaction, what the messages beside it say,
    and where rows of its table go.
    """

    real: TableId
    logical: TableId
    begin: TransactionBegin | None
    context: EventContext
    topics: tuple[str, ...]


class OversizedMessages:
    """Puts messages into the open batch in the form that their topics take; used by one thread.

    `claims` None: what is too large is a dead letter.
    """

    def __init__(
        self,
        sink: MessageSink,
        topics: Topics,
        sizes: MessageSizes,
        dead_letters: DeadLetterTopic,
        claims: ClaimStore | None,
        message: MessageSettings,
    ) -> None:
        self._sink = sink
        self._topics = topics
        self._sizes = sizes
        self._dead_letters = dead_letters
        self._claims = claims
        self._message = message
        self._dead_letters_of_change = (-1, 0)

    def send_printed(self, topic: str, messages: PrintedMessages, origin: MessageOrigin) -> None:
        """Put printed messages of one topic into the batch; together, if none is too large."""
        if self._all_fit(topic, messages):
            self._sink.add_printed(topic, messages)
            return
        for message in messages.each(topic):
            self.send(message, origin)

    def keeps_back(self, printed: Iterable[tuple[TablePlan, PrintedMessages]]) -> bool:
        """Say whether one of these messages cannot go as it is."""
        return not all(self._all_fit(plan.routes[0].topic, messages) for plan, messages in printed)

    def _all_fit(self, topic: str, messages: PrintedMessages) -> bool:
        """Looked at one by one only where one of them may be too large."""
        limit = self._sizes.limits[topic]
        return messages.value_bytes <= limit // 2 or all(
            message_bytes(each) <= limit for each in messages.each(topic)
        )

    def send(self, message: OutboundMessage, origin: MessageOrigin) -> None:
        """Put a message into the batch: as it is, as a claim or as a dead letter."""
        size, limit = message_bytes(message), self._sizes.limits[message.topic]
        if size <= limit:
            self._sink.add(message)
        elif self._claims is not None and message.value is not None:
            self._claim(self._claims, message, origin)
        else:
            refusal = MessageTooLarge(
                f"The message takes {size} bytes, and {message.topic} takes {limit}."
            )
            self._leave_out(
                _dead_letter(self._new_id(message), refusal.code, refusal.reason, message, origin),
                origin,
            )

    def send_row(
        self, made: list[OutboundMessage] | UnprintableRow, order: OrderPair, origin: MessageOrigin
    ) -> None:
        """Put what was made of a row into the batch, or the row as a dead letter."""
        if isinstance(made, UnprintableRow):
            for topic in origin.topics:
                message = OutboundMessage(
                    topic, -1, made.key, made.values, message_headers(order, ())
                )
                dead_letter = _dead_letter(
                    self._new_id(message), made.code, made.reason, message, origin, is_message=False
                )
                self._leave_out(dead_letter, origin)
            return
        for message in made:
            self.send(message, origin)

    def _claim(self, claims: ClaimStore, message: OutboundMessage, origin: MessageOrigin) -> None:
        """The value is safe in its place before the message that points there can become
        visible.
        """
        claim = claims.put(
            origin.logical, _order_of(message).execute_position, message.value or b""
        )
        headers = (*message.headers, (Header.CLAIM.value, claim_text(claim).encode()))
        value = reference_value(message.value or b"")
        self._sink.add_claim(
            OutboundMessage(message.topic, message.partition, message.key, value, headers)
        )
        _log.info("claim_written", url=claim.url, size_bytes=claim.size_bytes)

    def _leave_out(self, dead_letter: DeadLetter, origin: MessageOrigin) -> None:
        """Write the dead letter, and tell those who follow statements that the copy of this table
        is unproven.
        """
        limit = self._topics.dead_letter_limit(self._dead_letters)
        for record in self._dead_letters.messages(dead_letter, limit):
            self._sink.add(record)
        for marker in self._markers(dead_letter, origin):
            self._sink.add(marker)
        self._sink.count_dead_letter(dead_letter.code)
        _log.warning(
            "dead_letter", id=dead_letter.id, code=dead_letter.code, table=dead_letter.real
        )

    def _markers(self, dead_letter: DeadLetter, origin: MessageOrigin) -> Iterator[OutboundMessage]:
        sql = f"/* dead letter {dead_letter.id}: {dead_letter.code} */"
        value = encode_statement(
            MessageType.QUERY, origin.logical, sql, origin.context.frame, is_ddl=False
        )
        order = OrderPair(dead_letter.execute_time, dead_letter.execute_position)
        headers = (*message_headers(order, ()), (Header.DEAD_LETTER.value, dead_letter.id.encode()))
        for topic, partition in statement_places(
            dead_letter.message.topic, self._message.ddl, self._topics
        ):
            yield OutboundMessage(topic, partition, dead_letter.message.key, value, headers)

    def _new_id(self, message: OutboundMessage) -> str:
        """One change may become several messages: for each topic, and for each tag where tags are
        separate.
        """
        position = _order_of(message).execute_position
        last, count = self._dead_letters_of_change
        self._dead_letters_of_change = (position, count + 1 if position == last else 1)
        return f"{position}-{self._dead_letters_of_change[1]}"


def reference_value(value: bytes) -> bytes:
    """Return the value of a message whose own lies elsewhere: all its fields, but neither rows nor
    what grows with them.

    A reader of canal-json that knows no claims finds a row change without rows and fails, instead
    of taking nulls for values.
    """
    fields = orjson.loads(value)
    return orjson.dumps(
        {**fields, "data": None, "mysqlType": None, "old": None, "sql": "", "sqlType": None}
    )


def _dead_letter(
    dead_letter_id: str,
    code: str,
    reason: str,
    message: OutboundMessage,
    origin: MessageOrigin,
    *,
    is_message: bool = True,
) -> DeadLetter:
    order, begin = _order_of(message), origin.begin
    return DeadLetter(
        id=dead_letter_id,
        code=code,
        reason=reason,
        real=str(origin.real),
        logical=str(origin.logical),
        file=begin.position.file if begin is not None else "",
        offset=begin.position.offset if begin is not None else 0,
        gtid=begin.gtid if begin is not None else "",
        execute_time=order.execute_time,
        execute_position=order.execute_position,
        message=message,
        value_bytes=len(message.value or b""),
        is_message=is_message,
        written_ms=int(time() * 1000),
    )


def _order_of(message: OutboundMessage) -> OrderPair:
    order = parse_order(dict(message.headers)[Header.ORDER.value])
    return OrderPair(order.execute_time, order.execute_position)

"""Handles messages that are too large for their topic, and rows that cannot be encoded."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from time import time
from typing import Final, NamedTuple, Protocol

import structlog

from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.encode import StatementFacts, message_headers
from relay.envelope import DDL_TOPIC_SUFFIX, Header, MessageType, claim_text, parse_order
from relay.errors import MessageTooLarge
from relay.kafka import message_bytes
from relay.model.change import TransactionBegin
from relay.model.message import OutboundMessage, PrintedMessages
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.topics import Topics
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.statements import (
    keeps_last_of_key,
    statement_key,
    statement_places,
)
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.unencodable_rows import UnprintableRow
from relay.settings import MessageSettings

_KEY_DIGITS: Final = 16
"""Digits of the digest of a copied row in the id of its dead letter."""
_log = structlog.stdlib.get_logger(__name__)


class MessageSink(Protocol):
    """Receives and counts messages; the checkpoint implements it."""

    def add(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""

    def add_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch."""

    def add_claim(self, message: OutboundMessage) -> None:
        """Put a message whose value is in the claim-check store into the open batch."""

    def count_dead_letter(self, code: str) -> None:
        """Count a row that was written to the dead letter topic, under the code of its error."""


class MessageOrigin(NamedTuple):
    """Where a message comes from, for its dead letter.

    real     its table, under the name at the source
    logical  its logical table
    begin    the begin of its source transaction; None: the row was copied
    context  the metadata of its event
    topics   all topics of its table
    """

    real: TableId
    logical: TableId
    begin: TransactionBegin | None
    context: EventContext
    topics: tuple[str, ...]


class OversizedMessages:
    """Puts messages into the open batch in a form that fits their topics; used by one thread.

    claims     stores large values; None: a message that is too large becomes a dead letter
    formats    gives the format of each topic
    kept_back  number of messages and rows that became dead letters
    """

    def __init__(
        self,
        sink: MessageSink,
        topics: Topics,
        sizes: MessageSizes,
        dead_letters: DeadLetterTopic,
        claims: ClaimStore | None,
        message: MessageSettings,
        formats: MessageFormats,
    ) -> None:
        self.formats = formats
        self.kept_back = 0
        self._sink = sink
        self._topics = topics
        self._sizes = sizes
        self._dead_letters = dead_letters
        self._claims = claims
        self._message = message
        self._dead_letters_of_change = ("", 0)

    def send_printed(self, topic: str, messages: PrintedMessages, origin: MessageOrigin) -> None:
        """Put the printed messages of one topic into the batch: all at once if none is too large,
        otherwise one by one.
        """
        if self._all_fit(topic, messages):
            self._sink.add_printed(topic, messages)
            return
        for message in messages.each(topic):
            self.send(message, origin)

    def keeps_back(self, printed: Iterable[tuple[TablePlan, int, PrintedMessages]]) -> bool:
        """Return whether one of these messages is too large for its topic.

        `printed` has plan, number of rows and messages of each table.
        """
        return not all(
            self._all_fit(plan.routes[0].topic, messages) for plan, _, messages in printed
        )

    def _all_fit(self, topic: str, messages: PrintedMessages) -> bool:
        """Return whether every message fits.

        They are checked one by one only if one of them may be too large.
        """
        limit = self._sizes.limits[topic]
        return messages.value_bytes <= limit // 2 or all(
            message_bytes(each) <= limit for each in messages.each(topic)
        )

    def send(self, message: OutboundMessage, origin: MessageOrigin) -> None:
        """Put a message into the batch: unchanged if it fits, otherwise as a claim check or a dead
        letter.
        """
        size, limit = message_bytes(message), self._sizes.limits[message.topic]
        if size <= limit:
            self._sink.add(message)
        elif self._claims is not None and message.value is not None:
            self._claim(self._claims, message, origin)
        else:
            refusal = MessageTooLarge(
                f"The message has {size} bytes, and {message.topic} accepts at most {limit}."
            )
            self._leave_out(
                _dead_letter(
                    self._new_id(message, origin), refusal.code, refusal.reason, message, origin
                ),
                origin,
            )

    def send_row(
        self, made: list[OutboundMessage] | UnprintableRow, order: OrderPair, origin: MessageOrigin
    ) -> None:
        """Put the messages of a row into the batch. If the row could not be printed, store it as a
        dead letter for each topic of its table.

        made    its messages, or why it could not be printed
        order   the row's order key, for its dead letter; the last one if the row became several
                changes
        origin  the row's table, transaction and topics
        """
        if isinstance(made, UnprintableRow):
            for topic in origin.topics:
                message = OutboundMessage(
                    topic, -1, made.key, made.values, message_headers(order, ())
                )
                dead_letter = _dead_letter(
                    self._new_id(message, origin),
                    made.code,
                    made.reason,
                    message,
                    origin,
                    is_message=False,
                )
                self._leave_out(dead_letter, origin)
            return
        for message in made:
            self.send(message, origin)

    def _claim(self, claims: ClaimStore, message: OutboundMessage, origin: MessageOrigin) -> None:
        """Store the value before the message that points to it can become visible."""
        claim = claims.put(
            origin.logical, _order_of(message).execute_position, message.value or b""
        )
        headers = (*message.headers, (Header.CLAIM.value, claim_text(claim).encode()))
        value = self.formats.of(message.topic).reference(message.value or b"")
        self._sink.add_claim(
            OutboundMessage(message.topic, message.partition, message.key, value, headers)
        )
        _log.info("claim_written", url=claim.url, size_bytes=claim.size_bytes)

    def _leave_out(self, dead_letter: DeadLetter, origin: MessageOrigin) -> None:
        """Write the dead letter, and send a message to followers of statements that the copy of
        this table is unproven.
        """
        limit = self._topics.dead_letter_limit(self._dead_letters)
        for record in self._dead_letters.messages(dead_letter, limit):
            self._sink.add(record)
        for marker in self._markers(dead_letter, origin):
            self._sink.add(marker)
        self._sink.count_dead_letter(dead_letter.code)
        self.kept_back += 1
        _log.warning(
            "dead_letter", id=dead_letter.id, code=dead_letter.code, table=dead_letter.real
        )

    def _markers(self, dead_letter: DeadLetter, origin: MessageOrigin) -> Iterator[OutboundMessage]:
        sql = f"/* dead letter {dead_letter.id}: {dead_letter.code} */"
        statement = StatementFacts(
            MessageType.QUERY, origin.logical, sql, is_ddl=False, dead_letter=dead_letter.id
        )
        order = OrderPair(dead_letter.execute_time, dead_letter.execute_position)
        form = self.formats.of(dead_letter.message.topic)
        headers = (
            *message_headers(order, form.headers),
            (Header.DEAD_LETTER.value, dead_letter.id.encode()),
        )
        for topic, partition in self._marker_places(dead_letter.message, origin):
            key = dead_letter.message.key
            if keeps_last_of_key(self._topics, dead_letter.message.topic, topic):
                key = statement_key(order, dead_letter.id)
            value = form.statement(statement, origin.context.frame, order, topic)
            yield OutboundMessage(topic, partition, key, value, headers)

    def _marker_places(
        self, message: OutboundMessage, origin: MessageOrigin
    ) -> Iterable[tuple[str, int]]:
        """Return topic and partition of each marker of a message that was kept back.

        A statement in its separate topic is reported there. A marker is no DDL, so `ddl = "drop"`
        does not leave it out.
        """
        if message.topic not in origin.topics and message.topic.endswith(DDL_TOPIC_SUFFIX):
            return ((message.topic, message.partition),)
        mode = "topic" if self._message.ddl == "drop" else self._message.ddl
        return statement_places(message.topic, mode, self._topics)

    def _new_id(self, message: OutboundMessage, origin: MessageOrigin) -> str:
        """One change may become several messages: for each topic, and for each tag where tags are
        separate. Copied rows share their order key (ADR 61), so their ids also contain a digest of
        the real table, the key and the value: shards and masks give several rows one key.
        """
        change = str(_order_of(message).execute_position)
        if origin.begin is None:
            row = sha256(f"{origin.real}\n".encode())
            row.update(b"%b\n%b" % (message.key or b"", message.value or b""))
            change += f"-{row.hexdigest()[:_KEY_DIGITS]}"
        last, count = self._dead_letters_of_change
        self._dead_letters_of_change = (change, count + 1 if change == last else 1)
        return f"{change}-{self._dead_letters_of_change[1]}"


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

"""Sends batches to Kafka. One batch is open, and earlier ones may still wait for the answers to
their commits.
"""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, auto
from time import monotonic
from typing import Final

from relay.model.message import OutboundMessage, PrintedMessages, joined
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.open_batch import OpenBatch
from relay.pipeline.interruptible import answer_of
from relay.publish import BatchProducer

_HELD_BYTES: Final = 8_000_000
"""At most this is kept while the producer takes no message; then `send` waits for an answer."""
_FLUSH_BYTES: Final = 1 << 16
"""Messages are handed to the producer in portions of this size: each call costs as much as printing
a row does.
"""

_DELETION_BYTES: Final = 256
"""Bytes of memory of a deletion while it is kept."""


class Closing(Enum):
    """What the relay may send before Kafka answers the commit of a batch."""

    OVERLAPPING = auto()
    """The next batch may be sent before the answer."""
    ALONE = auto()
    """Consumers see the batch before any message of the next one, in all topics."""
    BARRIER = auto()
    """The batch holds only a position record. Consumers see all batches before it before any
    message of the next one.
    """


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit that was asked for; `taken` is how far the buffer was taken then."""

    answer: "Future[None]"
    record: PositionRecord
    batch: OpenBatch
    messages: int
    taken: int
    asked_at_s: float


@dataclass(frozen=True, slots=True)
class _Deletion:
    """The deletion of a record of the relay's own."""

    message: OutboundMessage


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive printed messages of one topic."""

    topic: str
    parts: list[PrintedMessages]

    def fits(self, messages: PrintedMessages) -> bool:
        """Return whether `messages` can be joined to the collected messages."""
        first = self.parts[0]
        return first.tail == messages.tail


class Outbox:
    """Collects the messages of the open batch, passes them to the Kafka producer, and commits the
    batch; used by one thread.

    Messages are collected until there are enough for one call of the producer, at the latest until
    `poll_commit`. While the producer accepts no message of the next batch, messages are kept here.
    With one transactional id, that is until Kafka answers the commit. With two ids, it is until
    Kafka has acknowledged the messages of the previous batch.
    """

    def __init__(
        self,
        producer: BatchProducer,
        buffer: ChangeBuffer,
        stats: InstanceStats,
        stop: threading.Event,
    ) -> None:
        self._producer = producer
        self._buffer = buffer
        self._stats = stats
        self._stop = stop
        self._commits: deque[_Commit] = deque()  # unanswered ones, at most two
        self._held: list[OutboundMessage | _Run | _Deletion] = []
        self._held_messages = self._held_bytes = 0
        self._held_since_s = 0.0

    @property
    def committing(self) -> bool:
        """Return whether a commit is not answered yet."""
        return bool(self._commits)

    @property
    def full(self) -> bool:
        """Return whether the producer accepts no message of the open batch yet, so that the batch
        cannot be committed.
        """
        return len(self._commits) > 1 or (bool(self._commits) and not self._producer.overlaps)

    @property
    def needs_barrier(self) -> bool:
        """Return whether consumers could see the next batch in its topics before an earlier batch
        in other topics. A batch with `Closing.BARRIER` between the two prevents this.
        """
        return self._producer.needs_barrier

    @property
    def messages(self) -> int:
        """The number of messages in the open batch."""
        with_producer = (
            self._producer.sent_messages if not self.full and self._producer.open_seconds else 0
        )
        return with_producer + self._held_messages

    @property
    def open_seconds(self) -> float:
        """The seconds since the first message of the open batch; 0 without a message."""
        with_producer = 0.0 if self.full else self._producer.open_seconds
        return with_producer or (monotonic() - self._held_since_s if self._held else 0.0)

    @property
    def unanswered_seconds(self) -> float:
        """The seconds since the oldest unanswered commit was requested; 0 without one. Any thread
        may read it.
        """
        oldest = next(iter(self._commits.copy()), None)
        return 0.0 if oldest is None else monotonic() - oldest.asked_at_s

    def send(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""
        self._make_room()
        self._held.append(message)
        self._count(1, len(message.value or b""))

    def send_deletion(self, message: OutboundMessage) -> None:
        """Put a tombstone into the open batch; it deletes a record of the relay itself."""
        self._make_room()
        self._held.append(_Deletion(message))
        self._count(1, _DELETION_BYTES)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch."""
        self._make_room()
        last = self._held[-1] if self._held else None
        if isinstance(last, _Run) and last.topic == topic and last.fits(messages):
            last.parts.append(messages)
        else:
            self._held.append(_Run(topic, [messages]))
        self._count(messages.number, messages.value_bytes)

    def commit(
        self,
        message: OutboundMessage,
        record: PositionRecord,
        batch: OpenBatch,
        beside: Sequence[OutboundMessage] = (),
        closing: Closing = Closing.OVERLAPPING,
    ) -> None:
        """Close the open batch with the message of its position record, and request its commit.

        `record` and `batch` describe it for the statistics. The messages `beside` are records of
        the relay itself, sent just before and not counted. `closing` says whether messages of the
        next batch may be sent before the answer. Raises AskedToStop, and the error of a previous
        commit.
        """
        if closing is Closing.BARRIER:
            self.await_commit()
        else:
            self._await_turn()
        self._flush()
        count, asked_at_s = self.messages, monotonic()
        answer = self._close(message, beside, closing)
        self._commits.append(_Commit(answer, record, batch, count, self._buffer.taken, asked_at_s))
        answer.add_done_callback(lambda _: self._buffer.wake())

    def _close(
        self, message: OutboundMessage, beside: Sequence[OutboundMessage], closing: Closing
    ) -> "Future[None]":
        if closing is Closing.BARRIER:
            return self._producer.commit_barrier(message, beside)
        for each in beside:
            if each.value is None:
                self._producer.send_deletion(each)
            else:
                self._producer.send(each)
        if closing is Closing.ALONE:
            return self._producer.commit(message)
        return self._producer.commit_overlapping(message, self._buffer.wake)

    def poll_commit(self) -> None:
        """Record the commits that were answered, then pass collected messages to the producer if it
        accepts them.

        Raises the error of a commit.
        """
        while self._commits and self._commits[0].answer.done():
            self._await_oldest()
        if not self.full:
            self._flush()

    def abort(self) -> None:
        """Wait for the answers to all commits, then drop the messages of the next batch that were
        not yet passed to the producer.

        The source is read again, which produces these messages again. Raises as `await_commit`.
        """
        self.await_commit()
        self._held.clear()
        self._held_messages = self._held_bytes = 0

    def await_commit(self) -> None:
        """Wait for the answers to all commits.

        Raises a commit's error, or AskedToStop if the instance is stopped and no answer arrives.
        """
        while self._commits:
            self._await_oldest()

    def _await_turn(self) -> None:
        while self.full:
            self._await_oldest()

    def _await_oldest(self) -> None:
        commit = self._commits[0]
        try:
            answer_of(commit.answer, self._stop, "The commit")
        finally:
            if commit.answer.done():
                self._commits.popleft()
        self._stats.committed(
            commit.record, commit.batch, commit.messages, monotonic() - commit.asked_at_s
        )
        self._buffer.ack(commit.taken)

    def _make_room(self) -> None:
        """Wait until the producer takes messages when too much is kept already."""
        if self._held_bytes >= _HELD_BYTES:
            self._await_turn()

    def _count(self, messages: int, size_bytes: int) -> None:
        if not self._held_messages:
            self._held_since_s = monotonic()
        self._held_messages += messages
        self._held_bytes += size_bytes
        if self._held_bytes >= _FLUSH_BYTES and not self.full:
            self._flush()

    def _flush(self) -> None:
        """Hand everything that is kept to the producer."""
        held, self._held = self._held, []
        self._held_messages = self._held_bytes = 0
        for each in held:
            if isinstance(each, _Run):
                self._producer.send_printed(each.topic, joined(each.parts))
            elif isinstance(each, _Deletion):
                self._producer.send_deletion(each.message)
            else:
                self._producer.send(each)

"""Batches on their way to Kafka: one is open, and the commit of the one before may still be
unanswered.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
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
"""At most this is kept while a commit is unanswered; then `send` waits for the answer."""
_FLUSH_BYTES: Final = 1 << 16
"""Messages are handed to the producer in portions of this size: each call costs as much as printing
a row does.
"""

_DELETION_BYTES: Final = 256
"""What a deletion takes in memory while it is kept."""


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
    """Printed messages of one topic that follow one another."""

    topic: str
    parts: list[PrintedMessages]

    def fits(self, messages: PrintedMessages) -> bool:
        """Whether these can be joined to them."""
        first = self.parts[0]
        return first.tail == messages.tail


class Outbox:
    """Sends messages in batches; used by one thread.

    Messages are kept here until there are enough for a call, at most until `poll_commit`. A
    producer has one transaction at a time: messages of the next batch are kept until Kafka answers
    the commit, so that publishing continues meanwhile.
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
        self._commit: _Commit | None = None
        self._held: list[OutboundMessage | _Run | _Deletion] = []
        self._held_messages = self._held_bytes = 0
        self._held_since_s = 0.0

    @property
    def committing(self) -> bool:
        """Whether a commit is not answered yet."""
        return self._commit is not None

    @property
    def messages(self) -> int:
        """Messages of the open batch."""
        with_producer = (
            self._producer.sent_messages
            if self._commit is None and self._producer.open_seconds
            else 0
        )
        return with_producer + self._held_messages

    @property
    def open_seconds(self) -> float:
        """How long the batch has been open; 0 when none is."""
        with_producer = self._producer.open_seconds if self._commit is None else 0.0
        return with_producer or (monotonic() - self._held_since_s if self._held else 0.0)

    @property
    def unanswered_seconds(self) -> float:
        """For how long the commit on its way has waited for its answer; 0 while there is none.

        Any thread may ask.
        """
        commit = self._commit
        return 0.0 if commit is None else monotonic() - commit.asked_at_s

    def send(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""
        self._make_room()
        self._held.append(message)
        self._count(1, len(message.value or b""))

    def send_deletion(self, message: OutboundMessage) -> None:
        """Put the deletion (tombstone) of one of the relay's own records into the open batch."""
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
    ) -> None:
        """Close the open batch with its record, behind the answer to the one before.

        Raises AskedToStop, and what ended that one.

        The messages `beside` the record are of the relay's own and not counted.
        """
        self.await_commit()
        self._flush()
        count, asked_at_s = self.messages, monotonic()
        for each in beside:
            if each.value is None:
                self._producer.send_deletion(each)
            else:
                self._producer.send(each)
        answer = self._producer.commit(message)
        self._commit = _Commit(answer, record, batch, count, self._buffer.taken, asked_at_s)
        answer.add_done_callback(lambda _: self._buffer.wake())

    def poll_commit(self) -> None:
        """If the pending commit has completed, record it or raise its error.

        Then hand kept messages to the producer.
        """
        if self._commit is not None and self._commit.answer.done():
            self.await_commit()
        if self._commit is None:
            self._flush()

    def abort(self) -> None:
        """Await the commit, then drop the kept messages of the next batch: they would only be
        aborted, and are read again.
        """
        self.await_commit()
        self._held.clear()
        self._held_messages = self._held_bytes = 0

    def await_commit(self) -> None:
        """Wait for the answer to the last commit.

        Raises the error that it is, or AskedToStop when none comes.
        """
        commit = self._commit
        if commit is None:
            return
        try:
            answer_of(commit.answer, self._stop, "The commit")
        finally:
            if commit.answer.done():
                self._commit = None
        self._stats.committed(
            commit.record, commit.batch, commit.messages, monotonic() - commit.asked_at_s
        )
        self._buffer.ack(commit.taken)

    def _make_room(self) -> None:
        """Wait for the answer when too much is kept already."""
        if self._commit is not None and self._held_bytes >= _HELD_BYTES:
            self.await_commit()

    def _count(self, messages: int, size_bytes: int) -> None:
        if not self._held_messages:
            self._held_since_s = monotonic()
        self._held_messages += messages
        self._held_bytes += size_bytes
        if self._commit is None and self._held_bytes >= _FLUSH_BYTES:
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

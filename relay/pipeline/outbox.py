"""Batches on their way to Kafka: one is open, and the one before it may still wait for the answer to its commit."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import Final

from relay.model.message import OutboundMessage, PrintedMessages
from relay.pipeline.answer import answer_of
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.meter import Meter
from relay.pipeline.open_batch import OpenBatch
from relay.position import PositionRecord
from relay.publish import BatchProducer

_HELD_BYTES: Final = 8_000_000
"""More than this is not kept while a commit is on its way: the walk waits for the answer."""


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit that was asked for; `taken` is how far the buffer was taken then."""

    answer: "Future[None]"
    record: PositionRecord
    batch: OpenBatch
    messages: int
    taken: int
    asked_at_s: float


class Outbox:
    """Sends messages in batches; used by one thread.

    A producer has one transaction at a time. So that the commit's round trip does not stop the walk, messages of the next batch are
    kept here until it is answered.
    """

    def __init__(self, producer: BatchProducer, buffer: ChangeBuffer, meter: Meter, stop: threading.Event) -> None:
        self._producer = producer
        self._buffer = buffer
        self._meter = meter
        self._stop = stop
        self._commit: _Commit | None = None
        self._held: list[Callable[[], None]] = []
        self._held_messages = self._held_bytes = 0
        self._held_since_s = 0.0

    @property
    def committing(self) -> bool:
        """Whether a commit is not answered yet."""
        return self._commit is not None

    @property
    def messages(self) -> int:
        """Messages of the open batch."""
        if self._commit is not None:
            return self._held_messages
        return self._producer.sent_messages if self._producer.open_seconds else 0

    @property
    def open_seconds(self) -> float:
        """How long the batch has been open; 0 when none is."""
        if self._commit is not None:
            return monotonic() - self._held_since_s if self._held else 0.0
        return self._producer.open_seconds

    def send(self, message: OutboundMessage) -> None:
        """Put a message into the open batch."""
        if self._holds(len(message.value or b""), 1):
            self._held.append(lambda: self._producer.send(message))
        else:
            self._producer.send(message)

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Put messages of one topic into the open batch."""
        if self._holds(messages.value_bytes, messages.number):
            self._held.append(lambda: self._producer.send_printed(topic, messages))
        else:
            self._producer.send_printed(topic, messages)

    def commit(self, message: OutboundMessage, record: PositionRecord, batch: OpenBatch) -> None:
        """Close the open batch with its record, behind the answer to the one before. Raises AskedToStop, and what ended that one."""
        self.land()
        count, asked_at_s = self.messages, monotonic()
        answer = self._producer.commit(message)
        self._commit = _Commit(answer, record, batch, count, self._buffer.taken, asked_at_s)
        answer.add_done_callback(lambda _: self._buffer.wake())

    def settle(self) -> None:
        """Take note of an answer that has come. Raises the error that it is."""
        if self._commit is not None and self._commit.answer.done():
            self.land()

    def finish(self) -> None:
        """As `land`, but what was kept for the next batch is left out: it would only be aborted, and is read again."""
        self._held.clear()
        self.land()

    def land(self) -> None:
        """Wait for the answer to the last commit. Raises the error that it is, or AskedToStop when none comes."""
        commit = self._commit
        if commit is None:
            return
        try:
            answer_of(commit.answer, self._stop, "The commit")
        finally:
            if commit.answer.done():
                self._commit = None
        self._meter.committed(commit.record, commit.batch, commit.messages, monotonic() - commit.asked_at_s)
        self._buffer.ack(commit.taken)
        held, self._held = self._held, []
        self._held_messages = self._held_bytes = 0
        for send in held:
            send()

    def _holds(self, size_bytes: int, messages: int) -> bool:
        """Whether messages must be kept for now; waits for the answer when too much is kept already."""
        if self._commit is not None and self._held_bytes >= _HELD_BYTES:
            self.land()
        if self._commit is None:
            return False
        if not self._held:
            self._held_since_s = monotonic()
        self._held_messages += messages
        self._held_bytes += size_bytes
        return True

"""The interface that all producers have, whatever their delivery guarantee is."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

from relay.model.message import OutboundMessage, PrintedMessages


class BatchProducer(Protocol):
    """Sends batches of messages. Each batch ends with the position record of its contents.

    After any error except those of `open` the producer cannot be used again: call `abort` and
    `close`, and create another one.
    """

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open batch."""

    @property
    def open_seconds(self) -> float:
        """Return for how many seconds the batch has been open; 0 if no batch is open."""

    @property
    def longest_open_seconds(self) -> float:
        """Return for how many seconds the oldest Kafka transaction has been open; 0 if none is."""
        return self.open_seconds

    @property
    def overlaps(self) -> bool:
        """Return whether messages of the next batch may be queued before the last commit is
        answered.
        """
        return False

    @property
    def needs_barrier(self) -> bool:
        """Return whether a later batch may become visible in one topic before an earlier one in
        another.

        `commit_barrier` between the batches prevents this.
        """
        return False

    def expect(self, partitions: int) -> None:
        """Set the number of partitions whose messages share the queue of the Kafka client."""

    def open(self) -> None:
        """Connect, and fence every older producer of the same instance."""

    def send(self, message: OutboundMessage) -> None:
        """Queue one message; begin a batch if none is open."""

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic; begin a batch if none is open."""

    def send_deletion(self, message: OutboundMessage) -> None:
        """Queue the deletion of a record.

        The deletion never becomes visible before the batch's position record: if the batch must be
        read again, the record is still needed.
        """

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Close the batch with its position record.

        The future completes when Kafka has confirmed the batch, or with the error. All consumers
        see this batch before any message of the next one.
        """

    def commit_overlapping(
        self,
        record: OutboundMessage,
        free: Callable[[], object],  # noqa: ARG002 - the next batch begins after the answer
    ) -> "Future[None]":
        """Close the batch. In each partition consumers see it before the next batch; between
        partitions the order is not guaranteed.

        `free` is called on another thread if `overlaps` becomes True before the commit is answered.
        """
        return self.commit(record)

    def commit_barrier(
        self, record: OutboundMessage, beside: Sequence[OutboundMessage]
    ) -> "Future[None]":
        """Commit the position record and the relay's own messages `beside` it.

        All commits must be answered, and no batch may be open. All consumers see the earlier
        batches before any message of the next one.
        """
        for each in beside:
            self.send(each)
        return self.commit(record)

    def abort(self) -> None:
        """Abort the open batch, if Kafka can be reached.

        Raises BatchAborted if no broker answers, and Fenced.
        """

    def close(self) -> None:
        """Close the connection without waiting."""

"""The interface of a producer, whichever delivery guarantee it has."""

from concurrent.futures import Future
from typing import Protocol

from relay.model.message import OutboundMessage, PrintedMessages


class BatchProducer(Protocol):
    """Sends batches of messages, each closed by the position record of what it holds.

    After any error except those of `open` the producer cannot be used again: call `abort` and
    `close`, and create another one.
    """

    @property
    def sent_messages(self) -> int:
        """Return the number of messages in the open batch."""

    @property
    def open_seconds(self) -> float:
        """Return for how many seconds the batch has been open; 0 if none is."""

    def expect(self, partitions: int) -> None:
        """Set the number of partitions that messages go to, which share the queue."""

    def open(self) -> None:
        """Connect, and fence every older producer of the same instance."""

    def send(self, message: OutboundMessage) -> None:
        """Queue one message; begin a batch if none is open."""

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Queue messages of one topic; begin a batch if none is open."""

    def send_deletion(self, message: OutboundMessage) -> None:
        """Queue the deletion of a record.

        It never becomes visible before the batch's position record: reading again would need the
        record.
        """

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Close the batch with its position record.

        The future completes when Kafka has confirmed the batch, or with the error.
        """

    def abort(self) -> None:
        """Abort the open batch, if Kafka can be reached.

        Raises BatchAborted if no broker answers, and Fenced.
        """

    def close(self) -> None:
        """Close the connection without waiting."""

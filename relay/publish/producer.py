"""What the pipeline asks of a producer, however it delivers."""

from concurrent.futures import Future
from typing import Protocol

from relay.model.message import OutboundMessage, PrintedMessages


class BatchProducer(Protocol):
    """Sends batches of messages, each closed by the position record that says what it holds.

    After any error but the ones of `open`, the producer is of no more use: `abort`, `close`, and
    make a new one.
    """

    @property
    def sent_messages(self) -> int:
        """Messages of the open batch."""

    @property
    def open_seconds(self) -> float:
        """How long the batch has been open; 0 when none is."""

    def expect(self, partitions: int) -> None:
        """Messages go to so many partitions from now on: each gets its part of what is held for the
        brokers.
        """

    def open(self) -> None:
        """Connect and shut out every older producer of the same instance."""

    def send(self, message: OutboundMessage) -> None:
        """Hand one message over; begins a batch when none is open."""

    def send_printed(self, topic: str, messages: PrintedMessages) -> None:
        """Hand messages of one topic over."""

    def send_deletion(self, message: OutboundMessage) -> None:
        """Hand over the deletion of a record that reading again would need: it is never visible
        before the batch's position record.
        """

    def commit(self, record: OutboundMessage) -> "Future[None]":
        """Close the batch with its position record.

        The future ends when Kafka has said yes, or with the error.
        """

    def abort(self) -> None:
        """Give the open batch up, as far as Kafka can be reached.

        Raises BatchAborted when nobody answers, and Fenced.
        """

    def close(self) -> None:
        """Let go of the connection without waiting for anything."""

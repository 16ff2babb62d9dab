"""Counts messages handed over against delivery reports: a position may only count when both are equal."""

from confluent_kafka import KafkaError, Message

from relay.errors import BatchAborted, RelayError
from relay.kafka import relay_error


class DeliveryCount:
    """The sums of one batch, and the first refusal that a delivery report told."""

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self.refusal: RelayError | None = None

    def report(self, error: KafkaError | None, message: Message) -> None:
        """Delivery report of one message, called from poll, flush and commit."""
        if error is None:
            self.delivered += 1
        elif self.refusal is None:
            self.refusal = relay_error(error, f"Delivering to {message.topic()} partition {message.partition()}")

    def check(self) -> None:
        """Raise unless every message of the batch was delivered."""
        if self.refusal is not None:
            raise self.refusal
        if self.delivered != self.sent:
            raise BatchAborted(f"{self.sent} messages were handed over, {self.delivered} delivered.")

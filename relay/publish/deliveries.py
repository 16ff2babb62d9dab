"""Checks the delivery of a batch's messages. A position is valid only after all were delivered.

The client is configured to report failures only (`delivery.report.only.error`), because a report of
each success costs more than decoding its row does. These reports are enough: a message leaves the
client's queue only when it is delivered or its failure is reported. So an empty queue without a
report means that all messages were delivered.
"""

from typing import Final

from confluent_kafka import KafkaError, Message

from relay.errors import BatchAborted, RelayError
from relay.kafka import Right, undelivered

_GIVEN_UP: Final = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT"})
"""Errors of messages that were dropped with their batch, because another message was refused."""


def refused_delivery(error: KafkaError, topic: str, partition: int) -> RelayError:
    """Return why a message was not delivered."""
    return undelivered(
        error, f"Delivering to {topic} partition {partition}", Right("Write", "topic", topic)
    )


class Deliveries:
    """The messages of one batch, and the first refusal that the client reported."""

    def __init__(self) -> None:
        self.sent = 0
        self.refusal: RelayError | None = None
        self.refused_at: tuple[str, int] | None = None
        """Topic and partition of the message that was refused first."""

    def report(self, error: KafkaError | None, message: Message) -> None:
        """Process the delivery report of one message. Called during poll, flush and commit."""
        if error is not None and error.name() not in _GIVEN_UP and self.refusal is None:
            self.refused_at = topic, partition = (message.topic() or "", message.partition() or 0)
            self.refusal = refused_delivery(error, topic, partition)

    def check(self, waiting: int) -> None:
        """Raise an error unless every message of the batch left the client.

        `waiting` is the number of messages that the client still holds.
        """
        if waiting:
            raise BatchAborted(
                f"Of {self.sent} messages that the client accepted, {waiting} were neither "
                "delivered nor refused."
            )

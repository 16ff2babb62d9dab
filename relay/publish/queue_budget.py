"""Computes how many messages the Kafka client's queue may hold. Without input or output."""

from typing import Final

from relay.settings import KafkaSettings

PARTITION_BYTES: Final = 128_000
"""Smallest number of queued bytes per partition.

Each request has messages of one partition, and one request is in flight. With fewer bytes per
request, the brokers would get too many requests.
"""
MOST_BYTES: Final = 32_000_000
_REMEMBERED_MESSAGES: Final = 20_000


def wanted_bytes(kafka: KafkaSettings, partitions: int) -> int:
    """Return how many bytes the queue may hold for messages to this many partitions.

    At least `queue_bytes`, and enough for each partition to have messages to send.
    """
    return max(_least_bytes(kafka), min(partitions * PARTITION_BYTES, MOST_BYTES))


def most_bytes(kafka: KafkaSettings) -> int:
    """Return the client's configured limit in bytes, which is enough for any number of
    partitions.
    """
    return max(_least_bytes(kafka), MOST_BYTES)


def _least_bytes(kafka: KafkaSettings) -> int:
    return max(kafka.queue_bytes, 2 * kafka.message_max_bytes)


class QueueBudget:
    """Computes how many more messages fit into the client's queue.

    The client reports the number of its messages and not their bytes, so their mean size is used.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._wanted_bytes = wanted_bytes(kafka, 0)
        self._messages = self._bytes = 0

    def expect(self, partitions: int) -> None:
        """Set the number of partitions that messages go to."""
        self._wanted_bytes = wanted_bytes(self._kafka, partitions)

    def count(self, messages: int, size_bytes: int) -> None:
        """Count messages that are queued, and their bytes."""
        if self._messages > _REMEMBERED_MESSAGES:
            self._messages //= 2
            self._bytes //= 2
        self._messages += messages
        self._bytes += size_bytes

    def left(self, waiting: int) -> int:
        """Return how many more messages may be queued while `waiting` messages are in the queue.

        Never negative; at least one if `waiting` is 0.
        """
        room = self._wanted_bytes * self._messages // max(self._bytes, 1)
        return max(room - waiting, 0 if waiting else 1)

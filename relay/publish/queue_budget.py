"""How much the client's queue may hold. Pure."""

from typing import Final

from relay.settings import KafkaSettings

PARTITION_BYTES: Final = 128_000
"""Each request carries one partition's messages and one is under way: with less to carry, brokers
spend their time on requests.
"""
MOST_BYTES: Final = 32_000_000
_REMEMBERED_MESSAGES: Final = 20_000


def wanted_bytes(kafka: KafkaSettings, partitions: int) -> int:
    """How much is held for so many partitions: `queue_bytes`, or more so that each has something to
    send.
    """
    return max(_least_bytes(kafka), min(partitions * PARTITION_BYTES, MOST_BYTES))


def most_bytes(kafka: KafkaSettings) -> int:
    """What is never passed, however many partitions there are: the client is set up for it once."""
    return max(_least_bytes(kafka), MOST_BYTES)


def _least_bytes(kafka: KafkaSettings) -> int:
    return max(kafka.queue_bytes, 2 * kafka.message_max_bytes)


class QueueBudget:
    """Says how many messages more the client may be given.

    It tells how many it has, not how large: a mean says that.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._wanted_bytes = wanted_bytes(kafka, 0)
        self._messages = self._bytes = 0

    def expect(self, partitions: int) -> None:
        """Messages go to so many partitions from now on."""
        self._wanted_bytes = wanted_bytes(self._kafka, partitions)

    def count(self, messages: int, size_bytes: int) -> None:
        """These come into the queue."""
        if self._messages > _REMEMBERED_MESSAGES:
            self._messages //= 2
            self._bytes //= 2
        self._messages += messages
        self._bytes += size_bytes

    def left(self, waiting: int) -> int:
        """Messages that still go in while so many wait there.

        Never negative, and one at least where none waits.
        """
        room = self._wanted_bytes * self._messages // max(self._bytes, 1)
        return max(room - waiting, 0 if waiting else 1)

"""Separates the records from the events and errors that Kafka's client returns."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from roma_client.errors import ClientError
from roma_client.kafka.failures import client_error, error_of, is_passing
from roma_client.log import log_event
from roma_client.records.change import new_tuple
from roma_client.records.order_guard import Partition
from roma_client.records.record import Record

_END: Final[int] = KafkaError._PARTITION_EOF  # noqa: SLF001  # local errors begin like that
_ASK_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 5.0
"""Between two questions for events while there are records."""


def sorted_out(
    messages: Sequence[Message], met_end: Callable[[Partition, int], None]
) -> tuple[list[Record], list[ClientError]]:
    """Return all records of a poll, also those after an error, and the errors.

    `met_end` is called with partition and offset if a partition was read to its end. Errors from
    which Kafka's client recovers by itself are only logged.
    """
    records: list[Record] = []
    failures: list[ClientError] = []
    for message in messages:
        error = message.error()
        if error is None:
            fields = (
                message.topic(),
                message.partition(),
                message.offset(),
                message.key(),
                message.value(),
                message.headers() or (),
                message.timestamp()[1] / 1000,
            )
            records.append(new_tuple(Record, fields))
        elif error.code() == _END:
            topic, number, offset = message.topic(), message.partition(), message.offset()
            if topic is not None and number is not None and offset is not None:
                met_end((topic, number), offset)
        elif is_passing(error):
            log_event(logging.INFO, "kafka_event", reason=error)
        else:
            where = f"topic {message.topic()}, partition {message.partition()}"
            failures.append(client_error(error, where))
    return records, failures


def raise_first(failures: Sequence[ClientError]) -> None:
    """Raise the first error and log the others. Without errors nothing happens."""
    for each in failures[1:]:
        log_event(logging.ERROR, "kafka_error", reason=each)
    if failures:
        raise failures[0]


class Poll:
    """Polls Kafka's client for messages and events. Used by the feed's thread.

    Callbacks run inside a poll. If one raises an error, messages of that poll are lost, and
    partitions may be assigned that the feed does not read. So each later poll raises the same error
    again.
    """

    def __init__(self, consumer: Consumer, group: str) -> None:
        self._consumer = consumer
        self._group = group
        self._polled = time.monotonic()
        self._failure: Exception | None = None

    @property
    def due_at(self) -> float:
        """Time at which events must be polled even if there are unread records
        (`time.monotonic`).
        """
        return self._polled + _POLL_SECONDS

    def consume(self, limit: int, timeout_seconds: float) -> list[Message]:
        """Return up to `limit` messages, or those that arrive before the timeout.

        Raises Kafka's errors as errors of this package, and the errors of callbacks; after an error
        it raises the same one again.
        """
        if self._failure is not None:
            raise self._failure
        self._polled = time.monotonic()
        try:
            return self._consumer.consume(limit, timeout_seconds)
        except KafkaException as exc:
            self._failure = client_error(error_of(exc), f"reading as group {self._group}")
            raise self._failure from exc
        except Exception as exc:
            self._failure = exc
            raise


class EndsMet:
    """The ends of partitions that a consumer has reached: everything before them was read."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._offsets: dict[Partition, int] = {}

    def note(self, partition: Partition, offset: int) -> None:
        """Record that a partition was read to its end, the offset `offset`."""
        self._offsets[partition] = offset

    def forget(self, partition: Partition) -> None:
        """Delete the stored end of a revoked partition."""
        self._offsets.pop(partition, None)

    def are_all_of(self, partitions: Iterable[Partition]) -> bool:
        """Return whether these partitions were read to their present ends. It queries Kafka.

        Returns False also if Kafka does not answer, because there may be unread records.
        """
        try:
            return all(self._offsets.get(each, -1) >= self._end(each) for each in partitions)
        except KafkaException as exc:
            log_event(logging.INFO, "ends_not_asked", reason=error_of(exc))
            return False

    def _end(self, partition: Partition) -> int:
        at = TopicPartition(*partition)
        _, end = self._consumer.get_watermark_offsets(at, timeout=_ASK_SECONDS)
        return end

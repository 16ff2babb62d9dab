"""Reads the committed records of a topic with one partition, up to its actual end."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Final, TypeAlias

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from relay.deadline import Deadline
from relay.errors import BrokerUnreachable, RelayError
from relay.kafka.client import kafka_client, reader_configuration
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

READ_SECONDS: Final = 30.0
"""Seconds without a record after which a read ends."""
_REQUEST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.2
_APPEARING_SECONDS: Final = 10.0
# Errors for a new topic, until the broker has its metadata and its partition has a leader.
_NOT_YET: Final = frozenset(
    {
        "_UNKNOWN_PARTITION",
        "_UNKNOWN_TOPIC",
        "UNKNOWN_TOPIC_OR_PART",
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_FOR_PARTITION",
    }
)

KeyAndValue: TypeAlias = tuple[bytes | None, bytes | None]
Record: TypeAlias = tuple[int, bytes | None, bytes | None]
"""Offset, key and value."""

_MAY_NOT_READ: Final = "TOPIC_AUTHORIZATION_FAILED"
_FETCHED_KILOBYTES: Final = 2048
"""Largest amount of fetched data that the client holds before the reader takes it."""


class PartitionReader:
    """Reads partition 0 of `topic`.

    A missing topic may have been created a moment ago, so it is requested again for `appearing_s`
    seconds before TopicRefused is raised. A read that gets no record for `reading_s` seconds raises
    `unreadable` if an open transaction hides the rest, and BrokerUnreachable otherwise.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        topic: str,
        unreadable: type[RelayError],
        *,
        appearing_s: float = _APPEARING_SECONDS,
        reading_s: float = READ_SECONDS,
    ) -> None:
        self._kafka = kafka
        self._topic = topic
        self._unreadable = unreadable
        self._appearing_s = appearing_s
        self._reading_s = reading_s

    def ends(self) -> tuple[int, int]:
        """Return the oldest offset and the offset of the next record to be written, as a
        read_uncommitted reader sees them.

        A read_committed reader that reaches the second offset has read all records.
        """
        with (
            closing(self._consumer("read_uncommitted")) as consumer,
            kafka_errors(f"Reading {self._topic}"),
        ):
            return self._asked_ends(consumer)

    def _asked_ends(self, consumer: Consumer) -> tuple[int, int]:
        deadline = Deadline.after(self._appearing_s)
        while True:
            try:
                return self._ends_as_seen_by(consumer)
            except KafkaException as exc:
                if deadline.passed or error_of(exc).name() not in _NOT_YET:
                    raise
            # no partition is assigned, so the call only processes the client's events
            consumer.poll(_POLL_SECONDS)

    def _ends_as_seen_by(self, consumer: Consumer) -> tuple[int, int]:
        """Return the oldest and the next offset, as the consumer's isolation level sees them."""
        partition = TopicPartition(self._topic, 0)
        offsets = consumer.get_watermark_offsets(partition, timeout=_REQUEST_SECONDS)
        if offsets is None:
            raise BrokerUnreachable(f"Kafka did not return the offsets of {self._topic} in time.")
        return offsets

    def committed(self, start: int, high: int) -> Iterator[KeyAndValue]:
        """Yield the committed records with start <= offset < high.

        There may be fewer records than offsets, because transaction markers have offsets too.
        """
        with closing(self.records(start, high)) as records:
            yield from ((key, value) for _, key, value in records)

    def records(self, start: int, high: int) -> Generator[Record, None, None]:
        """Yield offset, key and value of the committed records with start <= offset < high.

        Close the generator after use. Raises KafkaNotPermitted, BrokerUnreachable if the broker
        delivers nothing, and `unreadable` if an open transaction hides records before `high`.
        """
        reached = start
        deadline = Deadline.after(self._reading_s)
        with (
            closing(self._consumer("read_committed")) as consumer,
            kafka_errors(f"Reading {self._topic}"),
        ):
            consumer.assign([TopicPartition(self._topic, 0, start if start else OFFSET_BEGINNING)])
            while reached < high:
                message = consumer.poll(_POLL_SECONDS)
                if message is not None and (error := message.error()) is not None:
                    self._refuse(error)
                elif message is not None:
                    offset = message.offset()
                    if offset is None or offset >= high:
                        return
                    yield offset, message.key(), message.value()
                    deadline = Deadline.after(self._reading_s)
                reached = max(
                    reached, consumer.position([TopicPartition(self._topic, 0)])[0].offset
                )
                if deadline.passed:
                    raise self._why_nothing_came(consumer, reached, high)

    def _why_nothing_came(self, consumer: Consumer, reached: int, high: int) -> RelayError:
        """Return the error of a read that ended before `high`; the consumer is read_committed.

        The broker names the end that such a consumer can reach. If it is before `high`, an open
        transaction hides the rest; otherwise the broker has records that it does not deliver.
        """
        read = f"{self._topic} was read to offset {reached} of {high}"
        if self._ends_as_seen_by(consumer)[1] < high:
            return self._unreadable(f"{read}: an open transaction hides the records after it.")
        return BrokerUnreachable(f"{read}: its broker did not deliver the other records in time.")

    def _refuse(self, error: KafkaError) -> None:
        """Raise the error if the principal may not read.

        The client retries after every other error. It also requests a coordinator of its group. The
        relay needs no coordinator, so a refusal of this request is ignored.
        """
        if error.name() == _MAY_NOT_READ:
            raise relay_error(error, f"Reading {self._topic}", Right("Read", "topic", self._topic))

    def _consumer(self, isolation: str) -> Consumer:
        return kafka_client(
            Consumer,
            {
                **reader_configuration(self._kafka),
                "group.id": f"{self._topic}.reader",
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "fetch.wait.max.ms": 20,
                "queued.max.messages.kbytes": _FETCHED_KILOBYTES,
                "fetch.queue.backoff.ms": 10,
            },
        )

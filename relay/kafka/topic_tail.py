"""Reads the committed records of all partitions of one topic, without a consumer group."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from relay.errors import BrokerUnreachable
from relay.kafka.client import kafka_client, reader_configuration
from relay.kafka.consumer_groups import ConsumerGroups, PartitionRange
from relay.kafka.errors import kafka_errors, relay_error
from relay.kafka.metadata import cluster_metadata
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_METADATA_SECONDS: Final = 4.0
"""Timeout in seconds of metadata requests. A user waits for the answer, so a slower broker counts
as unavailable.
"""
_TIMES_SECONDS: Final = 5.0
_FETCHED_KILOBYTES: Final = 4096
"""Largest number of kilobytes of fetched data that the client stores before the reader takes them.
"""
_FETCHED_BYTES: Final = 4_000_000
_EOF: Final = "_PARTITION_EOF"
_DOWN: Final = "_ALL_BROKERS_DOWN"
_REFUSED: Final = frozenset({"TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PART"})
"""Names of errors for which a retry is useless."""
_ANSWERS_NO_GROUP: Final = "roma.no-group"
"""Value of group.id, which the client requires.

No consumer joins this group and nothing is committed, so Kafka never creates it.
"""

Offsets = Mapping[int, int]
"""Partition number → the next offset to read."""


class TailRecord(NamedTuple):
    """One committed record. `at_ms` is its Kafka timestamp in Unix milliseconds, 0 for none."""

    partition: int
    offset: int
    at_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


class TailRead(NamedTuple):
    """Records in the order in which the client returned them, and the partitions that were read to
    their ends.
    """

    records: tuple[TailRecord, ...]
    ended: frozenset[int]


class TopicTail:
    """One consumer, for one thread at a time. Close it after use."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._settings = settings
        self._topic = topic
        self._next: dict[int, int] = {}
        self._brokers_down = False
        self._consumer = kafka_client(Consumer, self._configuration())

    def ranges(self) -> dict[int, PartitionRange]:
        """Return the offset range of each partition; empty if the topic does not exist.

        Raises BrokerUnreachable, KafkaNotPermitted.
        """
        found = cluster_metadata(self._consumer, self._settings, _METADATA_SECONDS, self._topic)
        count = len(found.topics[self._topic].partitions) if self._topic in found.topics else 0
        if not count:
            return {}
        places = ConsumerGroups(self._settings).ranges({self._topic: count})
        return {number: each for (_, number), each in places.items()}

    def offsets_at(self, moment_ms: int, ranges: Mapping[int, PartitionRange]) -> dict[int, int]:
        """Return the first offsets of records published at this time or later.

        Raises BrokerUnreachable, KafkaNotPermitted.
        """
        asked = [TopicPartition(self._topic, number, moment_ms) for number in ranges]
        with kafka_errors(f"Asking for offsets of {self._topic}", self._right()):
            found = self._consumer.offsets_for_times(asked, timeout=_TIMES_SECONDS)
        return {
            each.partition: each.offset if each.offset >= 0 else ranges[each.partition].end
            for each in found
        }

    def start(self, offsets: Offsets) -> None:
        """Read from these offsets; records fetched before are discarded."""
        self._next = dict(offsets)
        self._consumer.assign(
            [TopicPartition(self._topic, number, offset) for number, offset in offsets.items()]
        )

    def read(self, most: int, timeout_s: float) -> TailRead:
        """Return at most `most` records, after at most `timeout_s` seconds.

        Raises BrokerUnreachable if no broker answers, KafkaNotPermitted, TopicRefused.
        """
        with kafka_errors(f"Reading {self._topic}", self._right()):
            messages = self._consumer.consume(most, timeout_s)
        if not messages and self._brokers_down:
            raise BrokerUnreachable(
                f"No Kafka broker answers at {self._settings.bootstrap_servers}."
            )
        self._brokers_down = False
        records, ended = [], set[int]()
        for message in messages:
            error, partition = message.error(), message.partition()
            if error is None:
                records.append(self._record(message))
            elif error.name() == _EOF and partition is not None:
                self._next[partition] = message.offset() or 0
                ended.add(partition)
            elif error.name() in _REFUSED:
                raise relay_error(error, f"Reading {self._topic}", self._right())
        return TailRead(tuple(records), frozenset(ended))

    def positions(self) -> Offsets:
        """Return the next offset to read of each partition."""
        return dict(self._next)

    def behind(self) -> int:
        """Return how many offsets are unread, by the end offsets that the client has cached."""
        total = 0
        for number, offset in self._next.items():
            _, end = self._consumer.get_watermark_offsets(
                TopicPartition(self._topic, number), cached=True
            )
            total += max(0, end - offset)
        return total

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def _record(self, message: Message) -> TailRecord:
        partition, offset = message.partition() or 0, message.offset() or 0
        self._next[partition] = offset + 1
        headers: Sequence[tuple[str, bytes]] = message.headers() or ()  # type: ignore[assignment]
        return TailRecord(
            partition,
            offset,
            max(0, message.timestamp()[1]),
            _bytes(message.key()),
            _bytes(message.value()),
            tuple((name, value or b"") for name, value in headers),
        )

    def _note(self, error: KafkaError) -> None:
        self._brokers_down = self._brokers_down or error.name() == _DOWN

    def _right(self) -> Right:
        return Right("Read", "topic", self._topic)

    def _configuration(self) -> dict[str, object]:
        return {
            **reader_configuration(self._settings),
            "group.id": _ANSWERS_NO_GROUP,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
            "fetch.max.bytes": _FETCHED_BYTES,
            "queued.max.messages.kbytes": _FETCHED_KILOBYTES,
            "fetch.queue.backoff.ms": 20,
            "error_cb": self._note,
        }


def _bytes(value: bytes | str | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value

"""Reading what is committed of a topic with one partition, up to its true end."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final, TypeAlias

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition

from relay.deadline import Deadline
from relay.errors import RelayError
from relay.kafka.client import client_configuration
from relay.kafka.errors import error_of, kafka_errors
from relay.settings import KafkaSettings

_READ_SECONDS: Final = 30.0
_REQUEST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.2
_APPEARING_SECONDS: Final = 10.0
# What is said of a topic that was just made, until the broker asked has heard of it or its partition has a leader.
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


class PartitionReader:
    """Reads partition 0 of `topic`; raises `unreadable` where an open transaction may still hide committed records.

    A topic that no broker knows is asked for during `appearing_s` seconds: it may just have been made. Then TopicRefused is raised.
    """

    def __init__(self, kafka: KafkaSettings, topic: str, unreadable: type[RelayError], *, appearing_s: float = _APPEARING_SECONDS) -> None:
        self._kafka = kafka
        self._topic = topic
        self._unreadable = unreadable
        self._appearing_s = appearing_s

    def ends(self) -> tuple[int, int]:
        """Oldest and next offset as an uncommitted reader sees them: what a committed one must reach to have seen all."""
        with closing(self._consumer("read_uncommitted")) as consumer, kafka_errors(f"Reading {self._topic}"):
            offsets = self._asked_ends(consumer)
        if offsets is None:
            raise self._unreadable(f"The offsets of {self._topic} were not answered.")
        return offsets

    def _asked_ends(self, consumer: Consumer) -> tuple[int, int] | None:
        deadline = Deadline.after(self._appearing_s)
        while True:
            try:
                return consumer.get_watermark_offsets(TopicPartition(self._topic, 0), timeout=_REQUEST_SECONDS)
            except KafkaException as exc:
                if deadline.passed or error_of(exc).name() not in _NOT_YET:
                    raise
            consumer.poll(_POLL_SECONDS)  # nothing is assigned: it lets the client work meanwhile

    def committed(self, start: int, high: int) -> Iterator[KeyAndValue]:
        """Yield what is committed from offset `start` up to `high`; markers of transactions occupy offsets too."""
        reached = start
        deadline = Deadline.after(_READ_SECONDS)
        with closing(self._consumer("read_committed")) as consumer, kafka_errors(f"Reading {self._topic}"):
            consumer.assign([TopicPartition(self._topic, 0, start if start else OFFSET_BEGINNING)])
            while reached < high:
                message = consumer.poll(_POLL_SECONDS)
                if message is not None and message.error() is None:
                    yield message.key(), message.value()
                    deadline = Deadline.after(_READ_SECONDS)
                reached = max(reached, consumer.position([TopicPartition(self._topic, 0)])[0].offset)
                if deadline.passed:
                    raise self._unreadable(
                        f"{self._topic} was read to offset {reached} of {high}: an open transaction hides what lies behind."
                    )

    def _consumer(self, isolation: str) -> Consumer:
        return Consumer(
            {
                **client_configuration(self._kafka),
                "group.id": f"{self._topic}.reader",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "fetch.wait.max.ms": 20,
            }
        )

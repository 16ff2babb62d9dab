"""Reads all records of a topic once, also those of aborted transactions."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

from confluent_kafka import Consumer, Message, TopicPartition

from relay.deadline import Deadline
from relay.errors import BrokerUnreachable
from relay.kafka.client import kafka_client, reader_configuration
from relay.kafka.errors import kafka_errors, relay_error
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_REQUEST_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.2
_SILENT_SECONDS: Final = 30.0
_MAY_NOT_READ: Final = "TOPIC_AUTHORIZATION_FAILED"


class ScannedRecord(NamedTuple):
    """One record of a topic, with its partition and offset."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def scan_topic(kafka: KafkaSettings, topic: str, partitions: int) -> Iterator[ScannedRecord]:
    """Yield the records that a topic has when the scan begins, partition by partition.

    Raises BrokerUnreachable after 30 s without a record, KafkaNotPermitted.
    """
    for partition in range(partitions):
        yield from scan_partition(kafka, topic, partition)


def scan_partition(
    kafka: KafkaSettings, topic: str, partition: int, start: int = 0
) -> Iterator[ScannedRecord]:
    """Yield the records that a partition has when the scan begins, from offset `start` on. Records
    that are written later are not read.

    Raises the errors of `scan_topic`.
    """
    with (
        closing(_consumer(kafka, topic)) as consumer,
        kafka_errors(f"Reading {topic}", Right("Read", "topic", topic)),
    ):
        place = TopicPartition(topic, partition)
        oldest, end = consumer.get_watermark_offsets(place, timeout=_REQUEST_SECONDS)
        first = max(oldest, start)
        if first >= end:
            return
        consumer.assign([TopicPartition(topic, partition, first)])
        deadline = Deadline.after(_SILENT_SECONDS)
        while max(first, consumer.position([place])[0].offset) < end:
            message = _polled(consumer, topic)
            if message is not None:
                offset = message.offset()
                if offset is None or offset >= end:
                    return
                deadline = Deadline.after(_SILENT_SECONDS)
                key, value = message.key(), message.value()
                yield ScannedRecord(partition, offset, key, value, _headers(message))
            elif deadline.passed:
                raise BrokerUnreachable(
                    f"Partition {partition} of {topic} sent no record for {_SILENT_SECONDS:.0f} s."
                )


def _polled(consumer: Consumer, topic: str) -> Message | None:
    """Return the next record, None if there is none yet. The client retries failed requests."""
    message = consumer.poll(_POLL_SECONDS)
    if message is None or (error := message.error()) is None:
        return message
    if error.name() == _MAY_NOT_READ:
        raise relay_error(error, f"Reading {topic}", Right("Read", "topic", topic))
    return None


def _headers(message: Message) -> tuple[tuple[str, bytes], ...]:
    headers = message.headers() or []
    pairs = headers.items() if isinstance(headers, dict) else headers
    return tuple(
        (name, value.encode() if isinstance(value, str) else value or b"") for name, value in pairs
    )


def _consumer(kafka: KafkaSettings, topic: str) -> Consumer:
    return kafka_client(
        Consumer,
        {
            **reader_configuration(kafka),
            "group.id": f"{topic}.scan",
            "auto.offset.reset": "error",
            "isolation.level": "read_uncommitted",
            "fetch.wait.max.ms": 20,
        },
    )

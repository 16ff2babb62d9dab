"""Counts the messages of a read_committed consumer after a run: a speed is valid only if each row
is there once.
"""

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import orjson
from confluent_kafka import Consumer, KafkaError, TopicPartition

from deploy.embedded import Kafka
from tools.bench.peers.contestant import BenchFailed

_BATCH: Final = 10_000
_READ_S: Final = 300.0
_ASK_S: Final = 10.0


@dataclass(slots=True)
class Counted:
    """Messages of the topics, the rows in them, and the bytes of their values."""

    messages: int = 0
    rows: int = 0
    value_bytes: int = 0


def count(kafka: Kafka, topics: tuple[str, ...], *, packed: bool) -> Counted:
    """Read the topics to their ends. Raises BenchFailed after _READ_S."""
    settings = {
        "bootstrap.servers": kafka.bootstrap,
        "group.id": "bench-count",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "check.crcs": False,
    }
    counted, ended, deadline = Counted(), 0, time.monotonic() + _READ_S
    with closing(Consumer(settings)) as consumer:
        places = [
            TopicPartition(topic, number, 0)
            for topic in topics
            for number in _partitions(consumer, topic)
        ]
        consumer.assign(places)
        while ended < len(places):
            if time.monotonic() > deadline:
                raise BenchFailed(
                    f"{', '.join(topics)} could not be read to the end in {_READ_S:.0f} s"
                )
            for message in consumer.consume(_BATCH, 1):
                error = message.error()
                if error is None:
                    _add(counted, message.value() or b"", packed)
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client names its public codes so
                    ended += 1
                else:
                    raise BenchFailed(str(error))
    return counted


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    return [*consumer.list_topics(topic, timeout=_ASK_S).topics[topic].partitions]


def _add(counted: Counted, value: bytes, packed: bool) -> None:
    counted.messages += 1
    counted.rows += len(orjson.loads(value)["data"]) if packed else 1
    counted.value_bytes += len(value)

"""The upper limit of any relay: a child process that only resends the relay's messages.

Called as `python -m tools.bench.measuring.resend BOOTSTRAP FROM TO FINISH ROWS`. Its messages,
headers, partitions, compression and transactions are the relay's; it neither reads a binlog nor
prints a row.
"""

import signal
import sys
import time
from contextlib import closing
from typing import Any, Final, TypeAlias

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tools.bench.measuring.workload import FINISH_ROWS

_COMMIT_S: Final = 0.2  # as often as the relay commits under load
_BATCH: Final = 10_000
_POLL_EVERY: Final = 1000
_QUEUE_FULL_S: Final = 0.01
Kept: TypeAlias = "tuple[bytes | None, bytes | None, int, Any]"


def main() -> None:
    """Send the kept messages, then FINISH_ROWS to the finish topic, then wait for SIGTERM."""
    bootstrap, source, target, finish, rows = sys.argv[1:]
    kept = read_all(bootstrap, source, int(rows))
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"resend-{target}",
            "compression.type": "lz4",
            "batch.size": 1_000_000,
            "linger.ms": 5,
            "queue.buffering.max.messages": 500_000,
        }
    )
    producer.init_transactions(30)
    send(producer, target, kept)
    producer.begin_transaction()
    for _ in range(FINISH_ROWS):
        producer.produce(finish, b"1")
    producer.commit_transaction(30)
    signal.pause()  # the benchmark reads this process's counters and then ends it


def read_all(bootstrap: str, topic: str, rows: int) -> list[Kept]:
    """Return the topic's first `rows` committed messages, by partition in their order."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "resend",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    kept: list[Kept] = []
    with closing(Consumer(settings)) as consumer:
        consumer.assign(
            [
                TopicPartition(topic, number, 0)
                for number in consumer.list_topics(topic, 10).topics[topic].partitions
            ]
        )
        while len(kept) < rows:
            kept.extend(
                _kept(message) for message in consumer.consume(_BATCH, 1) if message.error() is None
            )
    return kept


def _kept(message: Message) -> Kept:
    return message.value(), message.key(), message.partition() or 0, message.headers()


def send(producer: Producer, topic: str, messages: list[Kept]) -> None:
    """Send all messages, in Kafka transactions of at most _COMMIT_S seconds."""
    produce = producer.produce
    producer.begin_transaction()
    due = time.monotonic() + _COMMIT_S
    for first in range(0, len(messages), _POLL_EVERY):
        for value, key, partition, headers in messages[first : first + _POLL_EVERY]:
            while True:
                try:
                    produce(topic, value, key, partition, headers=headers)
                    break
                except BufferError:
                    producer.poll(_QUEUE_FULL_S)
        producer.poll(0)
        if time.monotonic() > due:
            producer.commit_transaction(30)
            producer.begin_transaction()
            due = time.monotonic() + _COMMIT_S
    producer.commit_transaction(30)


if __name__ == "__main__":
    main()

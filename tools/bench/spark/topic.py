"""Fills a topic with changes."""

from collections.abc import Iterable
from typing import Final

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tools.bench.spark.changes import Change, key_of, order_of, value_of

PARTITIONS: Final = 4
_POLLED_EVERY: Final = 1000


def fill(bootstrap: str, topic: str, changes: Iterable[Change]) -> int:
    """Make the topic and send the changes, by key to its partitions; return how many."""
    admin = AdminClient({"bootstrap.servers": bootstrap})  # its futures end with it
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "linger.ms": 50,
            "compression.type": "lz4",
        }
    )
    count = 0
    for count, (key, order) in enumerate(changes, 1):
        headers: list[tuple[str, str | bytes | None]] = [
            ("order", order_of(order).encode()),
            ("tag", b"orders"),
        ]
        while True:
            try:
                producer.produce(
                    topic, value_of(key, order), key_of(key), key % PARTITIONS, headers=headers
                )
                break
            except BufferError:
                producer.poll(0.1)
        if count % _POLLED_EVERY == 0:
            producer.poll(0)
    producer.flush()
    return count

"""Reading topics as consumers do, whole and with the isolation that one asks for."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from deploy.embedded import Kafka
from relay.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Seen:
    """One message as a consumer sees it.

    `value` is None for a tombstone, `shard` names instance and real table where the headers do.
    """

    partition: int
    offset: int
    key: bytes | None
    order: str
    tags: tuple[str, ...]
    value: dict[str, Any] | None
    orders: str | None = None
    value_bytes: int = 0
    claim: str | None = None
    unknown: dict[str, list[str]] | None = None
    shard: str = ""
    history: str | None = None
    renamed: str | None = None


def read_topic(
    bootstrap: str, topic: str, *, isolation: str = "read_committed", seconds: float = 30
) -> list[Seen]:
    """Everything visible in the topic now, partition by partition in offset order."""
    configuration = {
        "bootstrap.servers": bootstrap,
        "group.id": "tests",
        "isolation.level": isolation,
        "enable.partition.eof": True,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        # an answer without messages tells the end, and the broker holds it back for so long
        "fetch.wait.max.ms": 10,
    }
    deadline = Deadline.after(seconds)
    with closing(Consumer(configuration)) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        ended: set[int] = set()
        seen: list[Seen] = []
        while len(ended) < len(partitions):
            assert not deadline.passed, f"{topic} was not read to its end in {seconds} s"
            message = consumer.poll(1)
            if message is None:
                continue
            partition = message.partition()
            assert partition is not None
            if message.error() is not None:
                ended.add(partition)
                continue
            ended.discard(partition)
            texts = _header_texts(message)
            value = message.value()
            seen.append(
                Seen(
                    partition,
                    message.offset() or 0,
                    message.key(),
                    next((text for name, text in texts if name == "order"), ""),
                    tuple(text for name, text in texts if name == "tag"),
                    None if value is None else orjson.loads(value),
                    next((text for name, text in texts if name == "orders"), None),
                    len(value or b""),
                    next((text for name, text in texts if name == "claim"), None),
                    next((orjson.loads(text) for name, text in texts if name == "unknown"), None),
                    "/".join(text for name, text in texts if name in ("instance", "real")),
                    next((text for name, text in texts if name == "history"), None),
                    next((text for name, text in texts if name == "renamed"), None),
                )
            )
    return sorted(seen, key=lambda each: (each.partition, each.offset))


def ids_in_order(kafka: Kafka, topic: str) -> list[int]:
    """The column `id` of all visible rows of the topic, in the order of their pairs."""
    return [
        int((each.value or {})["data"][0]["id"])
        for each in sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    ]


def topic_answers(bootstrap: str, topic: str) -> bool:
    """Whether the topic is there and each of its partitions has a leader."""
    found = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics.get(topic)
    return found is not None and all(
        each.leader >= 0 and each.error is None for each in found.partitions.values()
    )


def _header_texts(message: Message) -> list[tuple[str, str]]:
    headers: Any = message.headers() or []
    return [(name, value.decode()) for name, value in headers]

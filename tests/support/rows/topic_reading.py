"""Reading topics as consumers do, whole and with the isolation that one asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson
from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from deploy.embedded import Kafka
from relay.deadline import Deadline
from tests.support.rows.topic_clients import admin_of, consumer_of

_LATEST: Final[Callable[[], OffsetSpec]] = OffsetSpec.latest
_NO_LEADER: Final = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
)
_MARKER_SECONDS = 10
"""How long a read waits for markers of transactions. Kafka answers a commit before it writes them
into each partition; a transaction that is open for longer stays invisible to the read."""


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
    snapshot: bool = False
    transaction: str = ""


def read_topic(
    bootstrap: str, topic: str, *, isolation: str = "read_committed", seconds: float = 60
) -> list[Seen]:
    """Return all visible rows of the topic, partition by partition in the order of offsets.

    Transactions that ended before the call are visible: see `_MARKER_SECONDS`.
    """
    deadline = Deadline.after(seconds)
    with consumer_of(bootstrap, isolation) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        written = _ends(bootstrap, topic, tuple(partitions), deadline)
        markers = Deadline.after(_MARKER_SECONDS)
        ended: dict[int, int] = {}
        seen: list[Seen] = []
        while not (
            len(ended) == len(partitions)
            and (markers.passed or all(ended[each] >= written[each] for each in partitions))
        ):
            assert not deadline.passed, f"{topic} was not read to its end in {seconds} s"
            message = consumer.poll(0.1)
            if message is None:
                continue
            partition = message.partition()
            assert partition is not None
            if message.error() is not None:
                ended[partition] = message.offset() or 0
                continue
            ended.pop(partition, None)
            texts = _header_texts(message)
            value = message.value()
            if any(name == "moved" for name, _ in texts):
                continue  # the marker of a table that moved to another topic is no row
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
                    ("snapshot", "true") in texts,
                    next((text for name, text in texts if name == "transaction"), ""),
                )
            )
    return sorted(seen, key=lambda each: (each.partition, each.offset))


def _ends(
    bootstrap: str, topic: str, partitions: tuple[int, ...], deadline: Deadline
) -> dict[int, int]:
    """Return the end offset of each partition, open transactions included.

    A partition of a topic that was just made may have no leader yet, and one of a restarted broker
    has a new leader epoch: then it asks again.
    """
    wanted = {TopicPartition(topic, each): _LATEST() for each in partitions}
    uncommitted = IsolationLevel.READ_UNCOMMITTED
    with admin_of(bootstrap) as client:
        while True:
            asked = client.list_offsets(wanted, isolation_level=uncommitted, request_timeout=10)
            try:
                return {each.partition: answer.result().offset for each, answer in asked.items()}
            except KafkaException as exc:
                if deadline.passed or exc.args[0].code() not in _NO_LEADER:
                    raise


def ids_in_order(kafka: Kafka, topic: str) -> list[int]:
    """Return the column `id` of all visible rows of the topic, in the order of their order keys."""
    return [
        int((each.value or {})["data"][0]["id"])
        for each in sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    ]


def topic_answers(bootstrap: str, topic: str) -> bool:
    """Return whether the topic exists and each of its partitions has a leader."""
    with admin_of(bootstrap) as client:
        found = client.list_topics(timeout=10).topics.get(topic)
    return found is not None and all(
        each.leader >= 0 and each.error is None for each in found.partitions.values()
    )


def _header_texts(message: Message) -> list[tuple[str, str]]:
    headers: Any = message.headers() or []
    return [(name, value.decode()) for name, value in headers]

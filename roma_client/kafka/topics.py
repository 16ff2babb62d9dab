"""Checks that the topics of a subscription exist, and finds where a group begins in them."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from roma_client.errors import TopicMissing
from roma_client.kafka.failures import client_error, error_of
from roma_client.kafka.options import FeedOptions
from roma_client.records.order_guard import Partition

_WAIT_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.3


def wait_for_topics(consumer: Consumer, topics: Sequence[str]) -> frozenset[str]:
    """Wait until all topics exist, and return the names of those that were missing at first.

    A relay creates a topic before its first message to the topic. Raises BrokerUnreachable,
    NotPermitted, and TopicMissing after 15 s.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    absent = frozenset(each for each in topics if not _has_topic(consumer, each))
    for topic in absent:
        while not _has_topic(consumer, topic):
            if time.monotonic() > deadline:
                raise TopicMissing(f"Kafka has no topic {topic}.")
            time.sleep(_POLL_SECONDS)
    return absent


def present_topics(kafka: Mapping[str, Any], topics: Collection[str]) -> frozenset[str]:
    """Return those of the topics that exist in Kafka. Raises BrokerUnreachable, NotPermitted."""
    try:
        found = AdminClient(dict(kafka)).list_topics(timeout=_WAIT_SECONDS).topics
    except KafkaException as exc:
        raise client_error(error_of(exc), "listing the topics") from exc
    return frozenset(each for each in topics if each in found and found[each].error is None)


def has_topics(consumer: Consumer, topics: Sequence[str]) -> bool:
    """Return whether Kafka has all of these topics. Raises BrokerUnreachable, NotPermitted."""
    return all(_has_topic(consumer, each) for each in topics)


def _has_topic(consumer: Consumer, topic: str) -> bool:
    where = f"looking for topic {topic}"
    try:
        found = consumer.list_topics(topic, timeout=_WAIT_SECONDS).topics[topic]
    except KafkaException as exc:
        raise client_error(error_of(exc), where) from exc
    if found.error is None:
        return bool(found.partitions)
    error = client_error(found.error, where)
    if isinstance(error, TopicMissing):
        return False
    raise error


class Positions:
    """The committed offsets of a group, and the offsets at which it begins without a commit.

    `note` returns the metadata for the commit of an offset. The methods raise KafkaException.
    """

    def __init__(
        self,
        consumer: Consumer,
        kafka: Mapping[str, Any],
        note: Callable[[Partition, int], str],
    ) -> None:
        self._consumer = consumer
        self._kafka = kafka
        self._note = note

    def starts(
        self, partitions: Sequence[TopicPartition], options: FeedOptions, appeared: frozenset[str]
    ) -> list[tuple[TopicPartition, bool]]:
        """Return for each partition the offset at which to begin, and whether the group had no
        commit for the partition.

        A partition without a commit begins at its oldest offset. But if the group has no commit at
        all, `options.start` decides. The topics that have `appeared` since the client was opened
        always begin at their oldest offset, because all their records are new.
        """
        committed = self._checked(self._consumer.committed(list(partitions), _WAIT_SECONDS))
        new = [each for each in committed if each.offset < 0]
        first: Mapping[Partition, TopicPartition] = {}
        if new and options.start == "latest":
            first = self._first(options, appeared | options.appeared)
        return [(self._start(each, first), each.offset < 0) for each in committed]

    def has_commits(self, topic: str) -> bool:
        """Return whether the group has committed an offset of a partition of a topic."""
        asked = self._consumer.committed(self._everything(topic), _WAIT_SECONDS)
        return any(each.offset >= 0 for each in self._checked(asked))

    def partitions_of(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Return all partitions of these topics."""
        return self._everything(*topics)

    def bound(self, at: TopicPartition, *, end: bool) -> TopicPartition:
        """Return the partition with its oldest offset; if `end` is True, with the offset after its
        newest record.
        """
        asked = TopicPartition(at.topic, at.partition)
        bounds = self._consumer.get_watermark_offsets(asked, timeout=_WAIT_SECONDS)
        return TopicPartition(at.topic, at.partition, bounds[end])

    def _start(
        self, committed: TopicPartition, first: Mapping[Partition, TopicPartition]
    ) -> TopicPartition:
        topic, number = committed.topic, committed.partition
        known = committed if committed.offset >= 0 else first.get((topic, number))
        if known is None:
            return self.bound(committed, end=False)
        return TopicPartition(topic, number, known.offset, known.metadata or "")

    def _first(
        self, options: FeedOptions, appeared: frozenset[str]
    ) -> Mapping[Partition, TopicPartition]:
        """Return all commits of the group; a group without any commits its beginning before.

        That commit has all partitions at once: the group is known afterwards, whichever client
        dies. All commits are asked for at once: another client may commit the same meanwhile.
        """
        asked = self._consumer.committed(self._everything(), _WAIT_SECONDS)
        known = [each for each in self._checked(asked) if each.offset >= 0]
        if not known:
            places = self.partitions_of(options.topics)
            known = [self._noted(each, end=each.topic not in appeared) for each in places]
            self._checked(self._consumer.commit(offsets=known, asynchronous=False))
        return {(each.topic, each.partition): each for each in known}

    def _noted(self, at: TopicPartition, *, end: bool) -> TopicPartition:
        topic, number, offset = at.topic, at.partition, self.bound(at, end=end).offset
        return TopicPartition(topic, number, offset, self._note((topic, number), offset))

    def _everything(self, *topics: str) -> list[TopicPartition]:
        """Return all partitions of these topics; without any, of Kafka.

        An admin client is asked. A consumer that lists topics inside a callback ends the process
        at its next callback (confluent-kafka 2.16: `CallState_get: Assertion cs != NULL`).
        """
        admin = AdminClient({**self._kafka, "allow.auto.create.topics": False})
        asked: Sequence[str | None] = topics or (None,)
        answers = [admin.list_topics(each, timeout=_WAIT_SECONDS).topics for each in asked]
        return [
            TopicPartition(name, number)
            for found in answers
            for name in found
            for number in found[name].partitions
        ]

    def _checked(self, found: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
        """Return the answer. Raises KafkaException if it has an error for a partition."""
        for each in found:
            if each.error is not None:
                raise KafkaException(each.error)
        return found

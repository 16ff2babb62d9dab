"""Reads the offsets of topics and the progress of consumer groups."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from relay.errors import BrokerUnreachable
from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.errors import kafka_errors
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_REQUEST_SECONDS: Final = 10.0
_LATE_SECONDS: Final = 2.0
"""Seconds beyond the timeout that the client gets to report the timeout itself."""
_EARLIEST: Final[Callable[[], OffsetSpec]] = OffsetSpec.earliest
_LATEST: Final[Callable[[], OffsetSpec]] = OffsetSpec.latest
_NONE: Final = -1001
"""The client's value OFFSET_INVALID: the group has committed no offset for the partition."""

Place = tuple[str, int]
"""A topic and the number of one of its partitions."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class PartitionRange:
    """The offsets of a partition that a read_committed consumer can read: first <= offset < end.

    There may be fewer records than offsets, because markers of Kafka transactions have offsets too.
    """

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """The progress of one consumer group in one topic.

    state        Kafka's name of the group's state: STABLE, EMPTY, PREPARING_REBALANCING, ...
    behind       sum of the offsets between the committed ones and the ends of the partitions
    partitions   number of partitions with committed offsets
    """

    group: str
    state: str
    topic: str
    behind: int
    partitions: int


class ConsumerGroups:
    """Queries the cluster about topics and groups. Each thread needs its own instance."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._admin = kafka_client(AdminClient, client_configuration(settings))

    def ranges(self, partitions: Mapping[str, int]) -> dict[Place, PartitionRange]:
        """Return the offset range of each partition; `partitions` maps topics to their number of
        partitions.

        Raises BrokerUnreachable, KafkaNotPermitted.
        """
        places = [(topic, number) for topic, count in partitions.items() for number in range(count)]
        first = self._offsets(places, _EARLIEST())
        end = self._offsets(places, _LATEST())
        return {each: PartitionRange(first[each], end[each]) for each in places}

    def progress(self, ranges: Mapping[Place, PartitionRange]) -> list[GroupProgress]:
        """Return how far each group has read each of the topics, by topic and group.

        Groups without a committed offset for a topic are omitted. Raises BrokerUnreachable,
        KafkaNotPermitted.
        """
        states = self._groups()
        with kafka_errors("Asking for offsets of consumer groups", Right("Describe", "group")):
            asked = {
                group: self._admin.list_consumer_group_offsets(
                    [ConsumerGroupTopicPartitions(group)], request_timeout=_REQUEST_SECONDS
                )[group]
                for group in states
            }
            found = {
                group: self._answer(future).topic_partitions for group, future in asked.items()
            }
        listed = [
            each
            for group, committed in found.items()
            for each in _progress_of(group, states[group], committed, ranges)
        ]
        return sorted(listed, key=lambda each: (each.topic, each.group))

    def _groups(self) -> dict[str, str]:
        with kafka_errors("Asking for consumer groups", Right("Describe", "cluster")):
            listed = self._answer(
                self._admin.list_consumer_groups(request_timeout=_REQUEST_SECONDS)
            )
        return {each.group_id: each.state.name for each in listed.valid}

    def _offsets(self, places: Iterable[Place], spec: OffsetSpec) -> dict[Place, int]:
        asked = {TopicPartition(*place): spec for place in places}
        if not asked:
            return {}
        with kafka_errors("Asking for the offsets of topics", Right("Describe", "topic")):
            answers = self._admin.list_offsets(
                asked,
                isolation_level=IsolationLevel.READ_COMMITTED,
                request_timeout=_REQUEST_SECONDS,
            )
            return {
                (at.topic, at.partition): self._answer(future).offset
                for at, future in answers.items()
            }

    def _answer(self, future: "Future[Answer]") -> Answer:
        try:
            return future.result(_REQUEST_SECONDS + _LATE_SECONDS)
        except TimeoutError as exc:
            raise BrokerUnreachable(
                f"No Kafka broker answers at {self._settings.bootstrap_servers}."
            ) from exc


def _progress_of(
    group: str,
    state: str,
    committed: Sequence[TopicPartition],
    ranges: Mapping[Place, PartitionRange],
) -> list[GroupProgress]:
    """Return the progress in each topic.

    Records that Kafka has deleted are not counted, because the group cannot read them.
    """
    behind: dict[str, list[int]] = {}
    for each in committed:
        found = ranges.get((each.topic, each.partition))
        if found is not None and each.offset != _NONE:
            behind.setdefault(each.topic, []).append(
                max(0, found.end - max(found.first, each.offset))
            )
    return [
        GroupProgress(group, state, topic, sum(counts), len(counts))
        for topic, counts in behind.items()
    ]

"""Reads the topics of the active mapping: their offsets, and the progress of consumer groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Final

from api.errors import NoSuchThing
from api.models.mappings.logical_mapping import LogicalGroupView
from api.services.mappings.logical_view import LogicalViews
from relay.errors import BrokerUnreachable
from relay.kafka import ConsumerGroups, GroupProgress, PartitionRange, TopicAdmin
from relay.settings import KafkaSettings

_MOST_WAITING: Final = 4


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """Partition number → the range of offsets that can be read."""

    ranges: Mapping[int, PartitionRange]

    @property
    def offsets(self) -> int:
        """Return the number of readable offsets, markers of Kafka transactions included."""
        return sum(each.end - each.first for each in self.ranges.values())


@dataclass(frozen=True, slots=True)
class TopicReport:
    """One topic.

    name        name of the topic
    group       the logical tables that are routed to it
    partitions  the readable offsets; None: Kafka does not have the topic yet
    readers     the consumer groups that read it, with their progress
    """

    name: str
    group: LogicalGroupView
    partitions: TopicPartitions | None
    readers: Sequence[GroupProgress]


class TopicDirectory:
    """Reads topics from the mapping and from Kafka. Each request opens a separate connection.

    Only a few requests wait for Kafka at the same time, so an unavailable broker does not block
    other requests.
    """

    def __init__(self, views: LogicalViews, settings: KafkaSettings) -> None:
        self._views = views
        self._settings = settings
        self._waiting = BoundedSemaphore(_MOST_WAITING)

    def topics(self) -> list[TopicReport]:
        """Return all topics of the active mapping, sorted by name.

        Raises ActiveSetBroken, BrokerUnreachable, KafkaNotPermitted.
        """
        return self._reports(self._views.view("topic").groups)

    def topic(self, name: str) -> TopicReport:
        """Return one topic of the active mapping.

        Raises NoSuchThing if the mapping does not have the topic, ActiveSetBroken,
        BrokerUnreachable, KafkaNotPermitted.
        """
        found = [each for each in self._views.view("topic").groups if each.name == name]
        if not found:
            raise NoSuchThing(f"The active mapping has no topic {name}.")
        return self._reports(found)[0]

    def of_instance(self, instance: str) -> list[TopicReport]:
        """Return the topics that an instance feeds, sorted by name.

        Raises ActiveSetBroken, BrokerUnreachable, KafkaNotPermitted.
        """
        return self._reports(
            [each for each in self._views.view("topic").groups if instance in each.instances]
        )

    def _reports(self, listed: Sequence[LogicalGroupView]) -> list[TopicReport]:
        if not listed:
            return []
        if not self._waiting.acquire(blocking=False):
            raise BrokerUnreachable(
                f"{_MOST_WAITING} requests of this admin are already waiting for an answer "
                "from Kafka."
            )
        try:
            return self._asked(listed)
        finally:
            self._waiting.release()

    def _asked(self, listed: Sequence[LogicalGroupView]) -> list[TopicReport]:
        counts = TopicAdmin(self._settings).partition_counts()
        there = {each.name: counts[each.name] for each in listed if each.name in counts}
        groups = ConsumerGroups(self._settings)
        ranges = groups.ranges(there)
        readers = groups.progress(ranges)
        return [
            TopicReport(
                each.name,
                each,
                _partitions(each.name, ranges) if each.name in there else None,
                [one for one in readers if one.topic == each.name],
            )
            for each in listed
        ]


def _partitions(topic: str, ranges: Mapping[tuple[str, int], PartitionRange]) -> TopicPartitions:
    return TopicPartitions(
        {number: each for (name, number), each in ranges.items() if name == topic}
    )

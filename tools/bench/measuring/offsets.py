"""The end offsets of topics, from the broker."""

from collections.abc import Iterable
from typing import Any, Final

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from deploy.embedded import Kafka

_ASK_S: Final = 10
_SPEC: Final[Any] = OffsetSpec  # its methods have no types


class Offsets:
    """The end offsets of topics. A topic that does not exist yet counts as empty."""

    def __init__(self, kafka: Kafka) -> None:
        self._admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        self._known: dict[str, int] = {}  # how many partitions each has

    def written(self, topics: Iterable[str]) -> int:
        """Return the end offsets, including transactions that are not committed."""
        return self._sum(topics, IsolationLevel.READ_UNCOMMITTED)

    def visible(self, topics: Iterable[str]) -> int:
        """Return the end offsets for a read_committed consumer; transaction markers count."""
        return self._sum(topics, IsolationLevel.READ_COMMITTED)

    def delete(self, topics: Iterable[str]) -> None:
        """Delete the topics that exist."""
        there = self._there(topics)
        if there:
            for deleted in self._admin.delete_topics(there, operation_timeout=_ASK_S).values():
                deleted.result(_ASK_S)
        for topic in there:
            del self._known[topic]

    def _sum(self, topics: Iterable[str], isolation: IsolationLevel) -> int:
        places = [
            TopicPartition(topic, number)
            for topic in self._there(topics)
            for number in range(self._known[topic])
        ]
        if not places:
            return 0
        latest = {place: _SPEC.latest() for place in places}
        asked = self._admin.list_offsets(latest, isolation_level=isolation, request_timeout=_ASK_S)
        return sum(self._offset(answer.result) for answer in asked.values())

    def _there(self, topics: Iterable[str]) -> list[str]:
        wanted = set(topics)
        if not wanted <= self._known.keys():
            found = self._admin.list_topics(timeout=_ASK_S).topics
            self._known = {
                name: len(topic.partitions) for name, topic in found.items() if topic.partitions
            }
        return sorted(wanted & self._known.keys())

    @staticmethod
    def _offset(result: object) -> int:
        assert callable(result)
        try:
            return int(result(_ASK_S).offset)
        except KafkaException:
            return 0  # its leader is not chosen yet

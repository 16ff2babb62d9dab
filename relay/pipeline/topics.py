"""Topics of the rows: made on first use, checked, and their partition counts kept."""

from typing import Final

from relay.errors import TopicRefused
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import InstanceSettings, KafkaSettings

DEFAULT_PARTITIONS: Final = 1
_FOREVER: Final = "-1"


class Topics:
    """Answers how many partitions a topic is placed by; `kept` are the counts of the position record, which win."""

    def __init__(self, kafka: KafkaSettings, instance: InstanceSettings, kept: dict[str, int]) -> None:
        self._kafka = kafka
        self._instance = instance
        self._admin = TopicAdmin(kafka)
        self.counts = dict(kept)
        self._checked: set[str] = set()

    def partitions(self, topic: str) -> int:
        """The count that rows of this topic are placed by. Raises TopicRefused, BrokerUnreachable."""
        if topic not in self._checked:
            wanted = self._instance.partition.partitions_num or self.counts.get(topic)
            self.counts[topic] = self._ensure(topic, wanted)
            self._checked.add(topic)
        return self.counts[topic]

    def ensure_single(self, topic: str) -> None:
        """Make a topic of one partition, as for DDL, if it is not there."""
        if topic not in self._checked:
            self._ensure(topic, 1)
            self._checked.add(topic)

    def _ensure(self, topic: str, wanted: int | None) -> int:
        state = self._admin.state(topic)
        if state is None:
            self._admin.create(TopicSpec(topic, wanted or DEFAULT_PARTITIONS, self._kafka.replication_factor, self._topic_settings()))
            return wanted or DEFAULT_PARTITIONS
        if wanted is not None and state.partitions < wanted:
            raise TopicRefused(f"Topic {topic} has {state.partitions} partitions, rows are placed by {wanted}.")
        return wanted or state.partitions

    def _topic_settings(self) -> dict[str, str]:
        retention = self._instance.topic.retention
        common = {"min.insync.replicas": str(self._kafka.min_insync_replicas)}
        if retention == "compact":
            return {**common, "cleanup.policy": "compact"}
        hours = _FOREVER if retention == "forever" else str(int(retention[:-1]) * 3_600_000)
        return {**common, "cleanup.policy": "delete", "retention.ms": hours, "retention.bytes": "-1"}

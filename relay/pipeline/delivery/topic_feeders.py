"""The other instances that feed a topic: an instance publishes there only while all of them place
rows alike.
"""

from relay.errors import PartitionsDiffer, StoreUnreachable
from relay.model.records.topic_placing import TopicPlacing
from relay.state import TopicAgreementStore


class TopicFeeders:
    """One instance's part in the agreements."""

    def __init__(self, store: TopicAgreementStore, instance: str) -> None:
        self._store = store
        self._instance = instance

    def partitions(self, topic: str) -> int | None:
        """The count that the other instances place rows of the topic by.

        None where there is none, or ZooKeeper does not answer.
        """
        try:
            feeders = self._store.read(topic).feeders
        except StoreUnreachable:
            return None
        return next((each.placing.partitions for each in feeders.values() if each.joined), None)

    def join(self, topic: str, placing: TopicPlacing) -> None:
        """Note how this instance places rows of the topic.

        Raises PartitionsDiffer where another one does otherwise, StoreUnreachable.
        """
        agreement = self._store.change(
            topic, lambda before: before.with_feeder(self._instance, placing)
        )
        if error := partitions_differ(topic, placing, agreement.differing(self._instance, placing)):
            raise error


def partitions_differ(
    topic: str, placing: TopicPlacing, others: dict[str, TopicPlacing]
) -> PartitionsDiffer | None:
    """Say which other instance places rows of a topic otherwise."""
    for name, other in others.items():
        return PartitionsDiffer(
            f"Instance {name} places rows of topic {topic} by {other}; this instance by {placing}."
        )
    return None

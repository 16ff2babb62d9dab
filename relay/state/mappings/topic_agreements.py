"""The agreements of the instances that publish to a topic, about how its rows are assigned to
partitions.

There is one document for each topic, and another one for the statements about its rows.
"""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.model.records.topic_partitioning import (
    Feeder,
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
)
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Node, Session, update_node

FORMAT: Final = 1
_STATEMENTS: Final = "#statements"
"""Suffix in the name of an agreement about statements. No Kafka topic has this character in its
name.
"""


def statements_of(topic: str) -> str:
    """Return the name of the agreement about statements that belong to rows of a topic."""
    return topic + _STATEMENTS


def rows_of(name: str) -> str:
    """Return the topic of rows to which an agreement belongs, from the agreement's name."""
    return name.removesuffix(_STATEMENTS)


class TopicAgreementStore:
    """Reads and changes the agreements of topics in ZooKeeper."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def read(self, topic: str) -> TopicAgreement:
        """Return the agreement of a topic; an empty one if no instance was recorded.

        Raises StoreUnreachable.
        """
        node = self._session.find(self._paths.topic_agreement(topic), synced=True)
        return TopicAgreement() if node is None else _read(node.value)

    def read_all(self, topics: Sequence[str]) -> dict[str, TopicAgreement]:
        """Return the agreement of each of these topics. Raises StoreUnreachable."""
        nodes = self._session.find_all([self._paths.topic_agreement(each) for each in topics])
        return {
            topic: TopicAgreement() if node is None else _read(node.value)
            for topic, node in zip(topics, nodes, strict=True)
        }

    def topics(self) -> tuple[str, ...]:
        """Return all topics to which an instance ever published rows, sorted.

        Raises StoreUnreachable.
        """
        return tuple(each for each in self.names() if rows_of(each) == each)

    def names(self) -> tuple[str, ...]:
        """Return the names of all agreements, about rows and statements, sorted.

        Raises StoreUnreachable.
        """
        try:
            names = self._session.children(self._paths.topic_agreements)
        except NodeMissing:
            return ()
        return tuple(sorted(map(unquote, names)))

    def change(
        self, topic: str, change: Callable[[TopicAgreement], TopicAgreement]
    ) -> TopicAgreement:
        """Apply `change` to an agreement, and return the result.

        If another writer was faster, `change` is applied again. Raises VersionConflict after many
        attempts, StoreUnreachable.
        """

        def changed(node: Node | None) -> tuple[TopicAgreement, bytes | None]:
            before = TopicAgreement() if node is None else _read(node.value)
            after = change(before)
            return after, None if after == before else _write(after)

        return update_node(self._session, self._paths.topic_agreement(topic), changed)


def _write(agreement: TopicAgreement) -> bytes:
    return write_json(
        {
            "format": FORMAT,
            "feeders": [_fields(name, each) for name, each in sorted(agreement.feeders.items())],
        }
    )


def _fields(instance: str, feeder: Feeder) -> dict[str, object]:
    partitioning = feeder.partitioning
    return {
        "instance": instance,
        "joined": feeder.joined,
        "partitions": partitioning.partitions,
        **partitioning.rules._asdict(),
        **({"format": feeder.format} if feeder.format else {}),
    }


def _read(value: bytes) -> TopicAgreement:
    """Return the agreement in a node's value. An entry that cannot be read is left out, and its
    instance writes it again.
    """
    entries = JsonObject.read(value).objects("feeders")
    return TopicAgreement(
        {each.text("instance"): _feeder(each) for each in entries if each.whole("partitions") > 0}
    )


def _feeder(fields: JsonObject) -> Feeder:
    rules = PartitioningRules(
        fields.text("partition_hash"), fields.truth("database_hash"), fields.text("names")
    )
    partitioning = TopicPartitioning(fields.whole("partitions"), rules)
    return Feeder(partitioning, fields.truth("joined"), fields.text("format"))

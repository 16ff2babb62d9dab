"""The wanted settings of a topic, and its state in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as the relay creates it. `settings` are Kafka's topic settings."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicState:
    """The state of a topic in the cluster.

    `settings` include the brokers' defaults. `replication_factor` is that of the partition with the
    fewest replicas. `permitted` are the operations that the relay's principal may perform on the
    topic ("Write"), None if the brokers do not return them.
    """

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]
    permitted: frozenset[str] | None = None

"""A topic as it is asked for, and as it stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic as the relay makes it; `settings` are Kafka's topic settings."""

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as it stands in the cluster.

    `settings` with the brokers' defaults, `replication_factor` of its weakest partition.

    `permitted` are the operations that the relay's principal may do with it ("Write"), None where
    the brokers do not say.
    """

    name: str
    partitions: int
    replication_factor: int
    settings: Mapping[str, str]
    permitted: frozenset[str] | None = None

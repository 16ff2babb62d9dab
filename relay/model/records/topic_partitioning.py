"""How rows of a topic are assigned to its partitions, and whether all instances that feed the topic
agree on it and on the format of its messages. Pure.

Consumers rely on one rule: the rows of one key of a logical table are in one partition. So all
instances that feed a topic must assign rows alike, and only an operator changes the rule.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import lcm
from typing import Final, NamedTuple

_DIGEST_CHARACTERS: Final = 16


class PartitioningRules(NamedTuple):
    """The inputs of a row's hash: Canal's `partition_hash`, whether the database counts, and the
    names that are hashed.
    """

    partition_hash: str
    database_hash: bool
    names: str

    @property
    def digest(self) -> str:
        """A short text that differs where the rules do."""
        return sha256(repr(tuple(self)).encode()).hexdigest()[:_DIGEST_CHARACTERS]

    def __str__(self) -> str:
        return (
            f"partition_hash = {self.partition_hash!r}, database_hash = "
            f"{str(self.database_hash).lower()}, names = {self.names!r}"
        )


class TopicPartitioning(NamedTuple):
    """How an instance assigns rows of one topic to partitions: the rules of the hash, and the
    partition count.
    """

    partitions: int
    rules: PartitioningRules

    def __str__(self) -> str:
        return f"{self.partitions} partitions, {self.rules}"


class Feeder(NamedTuple):
    """An instance that feeds a topic.

    `joined`: it publishes there; otherwise it waits until the others assign rows as it does.
    `format` is that of its messages, "" if an older relay wrote the entry.
    """

    partitioning: TopicPartitioning
    joined: bool
    format: str = ""


@dataclass(frozen=True, slots=True)
class TopicAgreement:
    """The instances that feed one topic, by name."""

    feeders: Mapping[str, Feeder] = field(default_factory=dict)

    def differing(
        self, instance: str, partitioning: TopicPartitioning
    ) -> dict[str, TopicPartitioning]:
        """Return the other instances that publish to the topic with another assignment."""
        others = self._others(instance)
        return {
            name: each.partitioning
            for name, each in others.items()
            if each.partitioning != partitioning
        }

    def differing_formats(self, instance: str, message_format: str) -> dict[str, str]:
        """Return the other instances that publish to the topic in another format."""
        others = self._others(instance)
        known = {"", message_format}
        return {name: each.format for name, each in others.items() if each.format not in known}

    def own(self, instance: str) -> Feeder | None:
        """Return how an instance publishes to the topic; None if it does not, or waits."""
        found = self.feeders.get(instance)
        return found if found is not None and found.joined else None

    def _others(self, instance: str) -> dict[str, Feeder]:
        return {
            name: each for name, each in self.feeders.items() if name != instance and each.joined
        }

    def with_feeder(
        self, instance: str, partitioning: TopicPartitioning, message_format: str = ""
    ) -> "TopicAgreement":
        """Return the agreement after an instance asked to publish.

        It joins only if no other publishing instance assigns rows differently or has another
        format. An instance that
        must wait is ignored by the others: a newcomer never stops an existing instance. After an
        operator changed the assignment of all of them, the first one joins, and the others follow.
        """
        differs = self.differing(instance, partitioning) or self.differing_formats(
            instance, message_format
        )
        return TopicAgreement(
            {**self.feeders, instance: Feeder(partitioning, not differs, message_format)}
        )

    def with_format(self, instance: str, message_format: str) -> "TopicAgreement":
        """Return the agreement with the format of an instance whose entry has none, because an
        older relay wrote it: a newcomer in another format then waits, and not this instance.

        Nothing changes where others have already another format. Their own join decides.
        """
        own = self.feeders.get(instance)
        if own is None or not own.joined or own.format:
            return self
        if self.differing_formats(instance, message_format):
            return self
        return TopicAgreement({**self.feeders, instance: own._replace(format=message_format)})

    def without_feeders(self, instances: Container[str | None]) -> "TopicAgreement":
        """Return the agreement without these instances."""
        return TopicAgreement(
            {name: each for name, each in self.feeders.items() if name not in instances}
        )


def repartitioned_share(before: int, after: int) -> Fraction:
    """Return the share of evenly spread hashes whose partition differs between two partition
    counts.
    """
    return 1 - Fraction(min(before, after), lcm(before, after))

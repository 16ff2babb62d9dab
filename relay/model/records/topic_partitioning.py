"""How rows of a topic are assigned to partitions, and whether all instances that publish to it
agree on that and on the message format. Pure.

Consumers rely on one rule: all rows of one key of a logical table are in one partition. So all
instances that publish to a topic must assign rows in the same way, and only an operator changes
that.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import lcm
from typing import Final, NamedTuple

_DIGEST_CHARACTERS: Final = 16


class PartitioningRules(NamedTuple):
    """The inputs of a row's hash.

    partition_hash  Canal's rules
    database_hash   whether the hash includes the database's name
    names           "logical" or "real": the names that are hashed
    """

    partition_hash: str
    database_hash: bool
    names: str

    @property
    def digest(self) -> str:
        """A short text that is different for different rules."""
        return sha256(repr(tuple(self)).encode()).hexdigest()[:_DIGEST_CHARACTERS]

    def __str__(self) -> str:
        return (
            f"partition_hash = {self.partition_hash!r}, database_hash = "
            f"{str(self.database_hash).lower()}, names = {self.names!r}"
        )


class TopicPartitioning(NamedTuple):
    """How an instance assigns rows of one topic to partitions: by which rules, and to how many
    partitions.
    """

    partitions: int
    rules: PartitioningRules

    def __str__(self) -> str:
        return f"{self.partitions} partitions, {self.rules}"


class Feeder(NamedTuple):
    """An instance that publishes to a topic, or waits until it may.

    joined  it publishes there; False: it waits until the others assign rows as it does
    format  format of its messages, "" if an older relay wrote the entry
    """

    partitioning: TopicPartitioning
    joined: bool
    format: str = ""


@dataclass(frozen=True, slots=True)
class TopicAgreement:
    """The instances that publish to one topic, or wait for it, by name."""

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
        """Return the other instances that publish to the topic in another known format: name →
        format.
        """
        others = self._others(instance)
        known = {"", message_format}
        return {name: each.format for name, each in others.items() if each.format not in known}

    def own(self, instance: str) -> Feeder | None:
        """Return the entry of an instance that publishes to the topic; None for every other
        instance.
        """
        found = self.feeders.get(instance)
        return found if found is not None and found.joined else None

    def _others(self, instance: str) -> dict[str, Feeder]:
        return {
            name: each for name, each in self.feeders.items() if name != instance and each.joined
        }

    def with_feeder(
        self, instance: str, partitioning: TopicPartitioning, message_format: str = ""
    ) -> "TopicAgreement":
        """Return the agreement after an instance requested to publish.

        The instance joins only if no other publishing instance assigns rows differently or has
        another format. Waiting instances are ignored, so a new instance never stops an existing
        one. If an operator changes the assignment of all instances, each of them waits until no
        instance publishes with the former one. So the last one to request joins at once, and the
        others join at their next request.
        """
        differs = self.differing(instance, partitioning) or self.differing_formats(
            instance, message_format
        )
        return TopicAgreement(
            {**self.feeders, instance: Feeder(partitioning, not differs, message_format)}
        )

    def with_format(self, instance: str, message_format: str) -> "TopicAgreement":
        """Return the agreement with the format of an instance whose entry has none, because an
        older relay wrote it. A new instance with another format then waits, and this instance does
        not.

        The entry is not changed if another instance already has another format. Whether this
        instance may publish is then decided when it joins.
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
    """Return the share of keys that change their partition if a topic has `after` instead of
    `before` partitions, for evenly distributed hashes.
    """
    return 1 - Fraction(min(before, after), lcm(before, after))

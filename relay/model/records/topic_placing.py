"""How rows of a topic are placed in its partitions, and whether the instances that feed a topic
agree on it.

Pure.

A reader relies on one thing: the rows of one key of a logical table are in one partition. So all
instances that feed a topic must place rows alike, and a change of the placing is an operator's act.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import lcm
from typing import Final, NamedTuple

_DIGEST_CHARACTERS: Final = 16


class PlacingRules(NamedTuple):
    """What decides about a row's hash: Canal's `partition_hash`, whether the database counts, and
    which names it is made of.
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


class TopicPlacing(NamedTuple):
    """How an instance places rows of one topic: the rules of the hash, and the partitions that it
    is divided by.
    """

    partitions: int
    rules: PlacingRules

    def __str__(self) -> str:
        return f"{self.partitions} partitions, {self.rules}"


class Feeder(NamedTuple):
    """An instance that feeds a topic.

    `joined`: it publishes there; otherwise it waits for the others to place rows as it does.
    """

    placing: TopicPlacing
    joined: bool


@dataclass(frozen=True, slots=True)
class TopicAgreement:
    """The instances that feed one topic, by name."""

    feeders: Mapping[str, Feeder] = field(default_factory=dict)

    def differing(self, instance: str, placing: TopicPlacing) -> dict[str, TopicPlacing]:
        """The other instances that publish to the topic and place rows otherwise."""
        others = (
            (name, each) for name, each in self.feeders.items() if name != instance and each.joined
        )
        return {name: each.placing for name, each in others if each.placing != placing}

    def with_feeder(self, instance: str, placing: TopicPlacing) -> "TopicAgreement":
        """The agreement once an instance asked to publish: it joins only where no other one that
        publishes places rows otherwise.

        An instance that must wait does not count for the others: a newcomer never stops an instance
        that was there first. After an operator changed the placing of all of them, the first one to
        come joins, and the others follow.
        """
        return TopicAgreement(
            {
                **self.feeders,
                instance: Feeder(placing, joined=not self.differing(instance, placing)),
            }
        )

    def without_feeders(self, instances: Container[str | None]) -> "TopicAgreement":
        """The agreement once these instances do not publish to the topic."""
        return TopicAgreement(
            {name: each for name, each in self.feeders.items() if name not in instances}
        )


def moved_share(before: int, after: int) -> Fraction:
    """The share of evenly spread hashes whose partition differs between two partition counts."""
    return 1 - Fraction(min(before, after), lcm(before, after))

"""The interface by which the makers of messages use topics. The topics are in Kafka or, for tests
and tools, elsewhere.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from relay.model.records.hashed_forms import HashedForms
from relay.model.table import TableId


class SizeLimits(Protocol):
    """The largest message that each topic accepts."""

    @property
    def limits(self) -> Mapping[str, int]:
        """The largest message in bytes, by topic."""


class RowTopics(Protocol):
    """The topics of rows and statements; `Topics` implements it for Kafka."""

    @property
    def sizes(self) -> SizeLimits:
        """The size limits of the topics that were used so far."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Topic → number of the partitions to which its rows are assigned."""

    @property
    def placed_by(self) -> Mapping[str, str]:
        """Topic → digest of the rules by which its rows are assigned to partitions."""

    @property
    def hashed_forms(self) -> HashedForms:
        """The text forms in which keys are hashed to partitions, by topic and table."""

    @property
    def formats(self) -> Mapping[str, str]:
        """Topic → format of its messages."""

    def partitions(self, topic: str) -> int:
        """Return the number of partitions to which rows of this topic are assigned."""

    def keep_key_forms(
        self, topic: str, table: TableId, form: str, shard: TableId | None = None
    ) -> None:
        """Record the text form in which the keys of a logical table are hashed in a topic; no
        effect if `form` is "".

        `shard` is the real table, if the keys contain its name.
        """

    def is_compacted(self, topic: str) -> bool:
        """Return whether a topic keeps only the last record of each key."""

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        """Return those of the given topics that exist now."""

    def ensure_single(self, topic: str) -> None:
        """Create a topic of one partition if it is missing."""

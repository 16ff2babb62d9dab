"""The interface by which printers ask for topics, whatever the destination of messages is."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from relay.model.records.hashed_forms import HashedForms
from relay.model.table import TableId


class SizeLimits(Protocol):
    """The largest message of each topic, in bytes."""

    @property
    def limits(self) -> Mapping[str, int]:
        """Return the limits by topic."""


class RowTopics(Protocol):
    """The topics of rows and statements.

    `Topics` are those of Kafka. `counts` are the partitions by which rows of each topic are placed,
    and `placed_by` the digests of the rules that place them.
    """

    @property
    def sizes(self) -> SizeLimits:
        """Return the size limits of the topics that were asked for."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return by how many partitions the rows of each topic are placed."""

    @property
    def placed_by(self) -> Mapping[str, str]:
        """Return the digest of the rules of each topic."""

    @property
    def hashed_forms(self) -> HashedForms:
        """Return the forms in which the keys of each table are hashed, by topic."""

    @property
    def formats(self) -> Mapping[str, str]:
        """Return the format of the messages of each topic."""

    def partitions(self, topic: str) -> int:
        """Return the count by which rows of this topic are placed."""

    def keep_key_forms(
        self, topic: str, table: TableId, form: str, shard: TableId | None = None
    ) -> None:
        """Note in which form the keys of a logical table are hashed in a topic.

        `shard`: the real table, if keys name it.
        """

    def is_compacted(self, topic: str) -> bool:
        """Return whether a topic keeps only the last record of a key."""

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        """Return which of these topics exist now."""

    def ensure_single(self, topic: str) -> None:
        """Create a topic of one partition if it is missing."""

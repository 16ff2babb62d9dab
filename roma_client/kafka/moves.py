"""How a feed reads topics that it never leaves, and the interface that it shares with a feed that
follows its table.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from confluent_kafka import Consumer, TopicPartition

from roma_client.kafka.commit_notes import CommitNote
from roma_client.records.moved import Departure
from roma_client.records.order_guard import Partition
from roma_client.records.record import Record


class Moves(Protocol):
    """The moves of a feed's table, as MoveFollower and NoMoves have them."""

    awaited_topic: str | None

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Note whether the mapping gives the table another topic now, and the number of the set
        that gave it this one. Thread-safe.
        """

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to read an assigned partition; `at` is its commit."""

    def again(self, at: TopicPartition) -> TopicPartition:
        """Return where to read a partition again whose next unacknowledged offset is `at`."""

    def passes(self, record: Record) -> bool:
        """Return whether a record is skipped."""

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata of the commit of an offset."""

    def forget(self, partition: Partition) -> None:
        """Drop everything about a partition that was given away."""

    def refuse_late(
        self,
        read_until: float | None,
        partitions: Sequence[Partition],
        has_read_all: Callable[[], bool],
    ) -> None:
        """Raise TableMoved if markers are missing for too long.

        `read_until`: the client has looked at all records before this time, in Unix seconds; None:
        no record came, and `has_read_all` says whether there is none.
        """

    def await_topic(self, topic: str) -> None:
        """Note that Kafka does not have the next topic yet. Raises TableMoved."""

    def departure(
        self, consumer: Consumer, topics: Sequence[str], own: Sequence[Partition], now: float
    ) -> Departure | None:
        """Return where the table went, if it is to be read there now; `now` is monotonic."""


class NoMoves:
    """Moves of a feed that reads the same topics until it ends.

    `table`: the table that is read without following its moves, for the metadata of commits; None
    for a feed of several tables. `by_hand`: the service named the topic.
    """

    def __init__(self, table: str | None, *, by_hand: bool) -> None:
        self.awaited_topic: str | None = None
        self._note = "" if table is None else CommitNote(table, by_hand=by_hand).text()

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Do nothing."""

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return the committed offset: no table has moved."""
        return at

    def again(self, at: TopicPartition) -> TopicPartition:
        """Return the offset unchanged: no table has moved."""
        return at

    def passes(self, _record: Record) -> bool:
        """Return False: every record is delivered."""
        return False

    def note(self, _partition: Partition, _offset: int) -> str:
        """Return the same metadata for every commit."""
        return self._note

    def forget(self, partition: Partition) -> None:
        """Do nothing."""

    def refuse_late(
        self,
        read_until: float | None,
        partitions: Sequence[Partition],
        has_read_all: Callable[[], bool],
    ) -> None:
        """Do nothing: no marker is waited for."""

    def await_topic(self, topic: str) -> None:
        """Do nothing: no topic follows."""

    def departure(
        self, _consumer: Consumer, _topics: Sequence[str], _own: Sequence[Partition], _now: float
    ) -> None:
        """Return None: the topics stay."""

"""The interface by which a feed handles moves of its table, and its version for topics that are
never left.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from confluent_kafka import Consumer, TopicPartition

from roma_client.kafka.commit_notes import CommitNote
from roma_client.records.moved import Departure
from roma_client.records.order_guard import Partition
from roma_client.records.record import Record


class Moves(Protocol):
    """How a feed handles moves of its table to other topics. `awaited_topic` is the next topic, if
    Kafka does not have it yet. MoveFollower and NoMoves implement this protocol.
    """

    awaited_topic: str | None

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Record the admin's answer about the table. Thread-safe.

        moved  whether the mapping now routes the table to another topic
        since  number of the set that routed the table to this topic
        """

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to begin an assigned partition; `at` is its committed offset."""

    def again(self, at: TopicPartition) -> TopicPartition:
        """Return the offset from which a partition is read again; `at` is its first offset that is
        not acknowledged.
        """

    def passes(self, record: Record) -> bool:
        """Return whether a record must be skipped. Raises CorruptMessage."""

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata of the commit of an offset."""

    def forget(self, partition: Partition) -> None:
        """Delete what was stored about a partition, because the group has revoked it."""

    def refuse_late(
        self,
        read_until: float | None,
        partitions: Sequence[Partition],
        has_read_all: Callable[[], bool],
    ) -> None:
        """Raise TableMoved if markers are missing for too long after a move.

        read_until    the client has read all records before this time (Unix seconds); None: no
                      record came
        partitions    this client's partitions
        has_read_all  returns whether there are no unread records; asked if no record came
        """

    def await_topic(self, topic: str) -> None:
        """Record that Kafka does not have the next topic yet. Raises TableMoved."""

    def departure(
        self, consumer: Consumer, topics: Sequence[str], own: Sequence[Partition], now: float
    ) -> Departure | None:
        """Return to which topic the table moved, if the client must read it there now; otherwise
        None.

        `own` are this client's partitions; `now` is `time.monotonic`.
        """


class NoMoves:
    """Handles moves for a feed that reads the same topics until it ends: it ignores them.

    table    the table that is read, for the metadata of commits; None for a feed of several tables
    by_hand  whether the service named the topic
    """

    def __init__(self, table: str | None, *, by_hand: bool) -> None:
        self.awaited_topic: str | None = None
        self._note = "" if table is None else CommitNote(table, by_hand=by_hand).text()

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Ignore the admin's answer."""

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return the committed offset, because this feed follows no moves."""
        return at

    def again(self, at: TopicPartition) -> TopicPartition:
        """Return the offset unchanged, because this feed follows no moves."""
        return at

    def passes(self, _record: Record) -> bool:
        """Return False, because every record is delivered."""
        return False

    def note(self, _partition: Partition, _offset: int) -> str:
        """Return the same metadata for every commit."""
        return self._note

    def forget(self, partition: Partition) -> None:
        """Ignore the revocation: nothing is stored for a partition."""

    def refuse_late(
        self,
        read_until: float | None,
        partitions: Sequence[Partition],
        has_read_all: Callable[[], bool],
    ) -> None:
        """Never raise an error, because no marker is expected."""

    def await_topic(self, topic: str) -> None:
        """Ignore the topic, because this feed has no next one."""

    def departure(
        self, _consumer: Consumer, _topics: Sequence[str], _own: Sequence[Partition], _now: float
    ) -> None:
        """Return None, because the feed never leaves its topics."""

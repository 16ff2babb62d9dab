"""Manages a client's membership in its consumer group: partitions, offsets, and lease."""

import logging
import time
from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol

from confluent_kafka import OFFSET_END, Consumer, KafkaException, TopicPartition

from roma_client.errors import TableMoved
from roma_client.kafka.asking import answered, oldest_member
from roma_client.kafka.failures import client_error, error_of
from roma_client.kafka.options import FeedOptions
from roma_client.kafka.topics import Positions
from roma_client.log import log_event
from roma_client.records.order_guard import Partition

_RENEW_AFTER: Final = 0.4
_HOLDS_FOR: Final = 0.8
"""Parts of the session timeout. Kafka lets a member go one whole timeout after its last sign."""


class Standing(Enum):
    """Whether a fetched change may be given to the service."""

    CURRENT = "current"
    VOID = "void"
    """The change's partition was revoked: another client gets the change."""
    UNPROVEN = "unproven"
    """The client has no recent proof that it still has the partition: wait, then ask again."""


class Lease:
    """The time for which a client may give out changes without another proof of its membership.

    Each accepted commit is a proof: Kafka then keeps the member for one more session timeout.
    """

    def __init__(self, session_timeout_seconds: float) -> None:
        self._seconds = session_timeout_seconds
        self.fresh_until = float("-inf")
        """Until when it need not be renewed (`time.monotonic`)."""
        self._holds_until = float("-inf")

    @property
    def is_old(self) -> bool:
        """Return whether the lease should be renewed by another commit."""
        return time.monotonic() > self.fresh_until

    @property
    def holds(self) -> bool:
        """Return whether the lease is valid, so that no other client of the group can be active."""
        return time.monotonic() < self._holds_until

    def renew(self, proven_at: float) -> None:
        """Renew the lease by a commit that was sent at `proven_at` (`time.monotonic`) and accepted.

        The time of the answer would be too late, because the broker may have delayed it.
        """
        self.fresh_until = proven_at + self._seconds * _RENEW_AFTER
        self._holds_until = proven_at + self._seconds * _HOLDS_FOR

    def end(self) -> None:
        """End the lease, because the broker refused the member; only another accepted commit renews
        it.
        """
        self.renew(float("-inf"))


class RebalanceListener(Protocol):
    """The reader of the assigned partitions. The methods are called at each rebalance of the
    group.
    """

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to begin a partition with this committed offset."""

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata for the commit of an offset."""

    def assigned(self, starts: Sequence[TopicPartition]) -> None:
        """Start to read new partitions at these offsets."""

    def revoked(self, partitions: Sequence[Partition], *, lost: bool) -> None:
        """Stop reading partitions that the group has revoked. `lost`: another client may already
        have them.
        """

    def partitions(self) -> list[Partition]:
        """Return the partitions that are read."""


class Membership:
    """Processes the group's assignments.

    Shared: each member has some partitions, and keeps them when others join (cooperative-sticky).
    Exclusive: the oldest member of the group reads all partitions of all its topics, and the other
    members read nothing. The oldest one is determined again when a member joins or leaves. Topics
    are ignored for that, because clients of one group may read different ones during an upgrade.
    Members of an older generation cannot commit: Kafka refuses their commits for each partition.
    """

    def __init__(
        self, consumer: Consumer, options: FeedOptions, listener: RebalanceListener
    ) -> None:
        self._consumer = consumer
        self._options = options
        self._listener = listener
        self._positions = Positions(consumer, options.kafka, listener.note)
        self._appeared: frozenset[str] = frozenset()
        self._is_leaving = False
        self._is_new = options.again is not None
        self._is_late = False
        self.unread: frozenset[Partition] = frozenset()
        """Partitions without a commit of the group when they were assigned last."""

    def join(self, appeared: frozenset[str] = frozenset()) -> None:
        """Join the group. Assignments arrive while the consumer is polled.

        `appeared` are the topics that Kafka did not have when the client was opened.
        """
        self._appeared |= appeared
        self._consumer.subscribe(
            list(self._options.topics),
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )

    def read_elsewhere(self, options: FeedOptions) -> None:
        """Subscribe to other topics, or read the same ones again from their commits.

        Kafka revokes the partitions of the former topics. Call it after the listener has stopped
        reading them.
        """
        is_same = self.reads_all(options.topics)
        self._options = options
        self._is_new = options.again is not None
        if not is_same:
            self.join()
        elif assigned := self._consumer.assignment():
            starts = self._starts(assigned)
            self.read_again([self._begin(each) for each in starts])
            self._listener.assigned(starts)

    def newer_options(self) -> FeedOptions | None:
        """Return newer options if the first assignment of a new group arrived too late; otherwise
        None.

        An assignment after `fresh_until` is too late: the table may have got another topic since
        the admin's answer. Nothing was read yet. Raises the errors of opening.
        """
        if not self._is_late or self._options.again is None:
            return None
        self._is_late = False
        return self._options.again()

    def reads_all(self, topics: Sequence[str]) -> bool:
        """Return whether `topics` are the topics to which the member has subscribed."""
        return set(topics) == set(self._options.topics)

    def leave(self) -> None:
        """Leave the group, after the last commit.

        Callbacks that still arrive send no requests. librdkafka 2.16 hangs or ends the process if
        the coordinator refuses a commit, or a partition is assigned, while the consumer closes.
        """
        self._is_leaving = True
        self._consumer.close()

    def read_again(self, starts: Sequence[TopicPartition]) -> None:
        """Read the assigned partitions again from these offsets."""
        if self._options.exclusive:
            self._consumer.assign(list(starts))
            return
        self._consumer.incremental_unassign(list(starts))
        self._consumer.incremental_assign(list(starts))

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._is_leaving:
            assign = consumer.assign if self._options.exclusive else consumer.incremental_assign
            assign([])  # otherwise Kafka's client assigns them
            return
        self._is_late = self._is_new and time.monotonic() > self._options.fresh_until
        if self._is_late:
            self._wait_with(consumer, partitions)
            return
        if self._options.exclusive:
            starts = self._starts(self._all_partitions()) if self._is_oldest() else []
            consumer.assign([self._begin(each) for each in starts])
        else:
            starts = self._starts([each for each in partitions if self._reads(each)])
            # Kafka takes former ones away with the next assignment.
            former = [_unread(each) for each in partitions if not self._reads(each)]
            consumer.incremental_assign([*map(self._begin, starts), *former])
        self._is_new = self._is_new and not starts
        self._told("partitions_assigned", starts)
        self._listener.assigned(starts)

    def _wait_with(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Hold assigned partitions without reading them."""
        if self._options.exclusive:
            held = self._all_partitions() if self._is_oldest() else []
            consumer.assign([_unread(each) for each in held])
        else:
            consumer.incremental_assign([_unread(each) for each in partitions])
        self._listener.assigned([])

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._end(consumer, partitions, lost=False)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._end(consumer, partitions, lost=True)

    def _end(self, consumer: Consumer, partitions: Sequence[TopicPartition], *, lost: bool) -> None:
        lost = lost or self._is_leaving
        self._told("partitions_lost" if lost else "partitions_revoked", partitions)
        if self._options.exclusive:
            self._listener.revoked(self._listener.partitions(), lost=lost)
            consumer.unassign()
            return
        self._listener.revoked([(each.topic, each.partition) for each in partitions], lost=lost)
        consumer.incremental_unassign(list(partitions))

    def _is_oldest(self) -> bool:
        """Return whether this is the oldest member. Raises Kafka's errors as this package's."""
        kafka, group = self._options.kafka, self._options.group
        try:
            # The consumer's own question finds the coordinator: see `oldest_member`.
            answered(lambda: self._positions.has_commits(self._options.topics[0]))
            oldest = answered(lambda: oldest_member(kafka, group))
        except KafkaException as exc:
            raise client_error(error_of(exc), f"asking for the members of group {group}") from exc
        return oldest == self._consumer.memberid()

    def _reads(self, partition: TopicPartition) -> bool:
        return partition.topic in self._options.topics

    def _begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to read a partition with this commit.

        Markers before it may have expired; if rows after it have, Kafka reports that there.
        """
        begin = self._listener.begin(at)
        if begin.offset >= at.offset:
            return begin
        try:
            oldest = answered(lambda: self._positions.bound(at, end=False))
        except KafkaException as exc:
            raise client_error(error_of(exc), f"asking for the offsets of {at.topic}") from exc
        return min(at, max(begin, oldest, key=_offset), key=_offset)

    def _starts(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Return where to read: the committed offsets, or concrete ones of `start`.

        Raises the errors of Kafka's client as those of this package.
        """
        if not partitions:
            return []
        options, appeared = self._options, self._appeared
        try:
            starts = answered(lambda: self._positions.starts(partitions, options, appeared))
            if any(is_new for _, is_new in starts):
                answered(self._refuse_copies)
        except KafkaException as exc:
            where = f"asking for the offsets of group {options.group}"
            raise client_error(error_of(exc), where) from exc
        self.unread = frozenset((at.topic, at.partition) for at, is_new in starts if is_new)
        return [at for at, _ in starts]

    def _refuse_copies(self) -> None:
        """Raise TableMoved where a group would read again what it has read in the former topic."""
        follow, group = self._options.follow, self._options.group
        since = None if follow is None else follow.repeats_from
        if follow is None or since is None or self._positions.has_commits(follow.topic):
            return
        raise TableMoved(
            f"The table {follow.name} left the former topic of group {group} with mapping set "
            f"{follow.after}, and topic {follow.topic} has had it since set {since}: the group "
            "would read its older rows there again, after newer ones.",
            f"Set the offsets of the group in {follow.topic} to a time shortly before the edit "
            "(kafka-consumer-groups.sh --reset-offsets --to-datetime), then start again.",
        )

    def _all_partitions(self) -> list[TopicPartition]:
        return self._positions.partitions_of(self._options.topics)

    def _told(self, event: str, partitions: Sequence[TopicPartition]) -> None:
        told = ",".join(f"{each.topic}/{each.partition}" for each in partitions)
        log_event(logging.INFO, event, group=self._options.group, partitions=told or "none")


def _offset(at: TopicPartition) -> int:
    return at.offset


def _unread(at: TopicPartition) -> TopicPartition:
    """Return a partition that is assigned and not read."""
    return TopicPartition(at.topic, at.partition, OFFSET_END)

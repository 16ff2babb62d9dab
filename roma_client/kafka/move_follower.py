"""Lets a client continue in the next topic of its table, after it has read the last marker in every
partition.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from roma_client.errors import BrokerUnreachable, TableMoved
from roma_client.kafka.commit_notes import CommitNote
from roma_client.kafka.failures import client_error, error_of, is_for_now
from roma_client.kafka.former_topics import next_topic
from roma_client.kafka.moves import Moves, NoMoves
from roma_client.kafka.options import FeedOptions
from roma_client.kafka.topics import has_topics
from roma_client.log import log_event
from roma_client.records.moved import Departure, Departures, Followed, marker_of
from roma_client.records.order_guard import Partition
from roma_client.records.record import Record

_ASK_SECONDS: Final = 15.0
_CHECK_SECONDS: Final = 0.5
"""While all own partitions are read to their ends, the group is asked this often for the others."""
_WITHOUT_PARTITIONS_SECONDS: Final = 5.0
"""The same for a client without partitions."""


class MoveFollower:
    """Detects that a client's table has moved, while the client reads one topic.

    The commits of the group show what other clients have read: a partition is finished when its
    commit names the departure, and the group reads the next topic when all partitions are finished.
    Used by the feed's thread; only `hear` may be called from others.
    """

    def __init__(self, followed: Followed, limit_seconds: float) -> None:
        self._followed = followed
        self._limit = limit_seconds
        self._departures = Departures(followed)
        self._floor: dict[Partition, int] = {}
        self._first: dict[Partition, int] = {}
        self._returned: dict[Partition, CommitNote] = {}
        self._heard: float | None = None
        self._has_marker = False
        self._check_at = 0.0
        self.awaited_topic: str | None = None
        """The next topic, while Kafka does not have it."""

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Record the admin's answer about the table.

        moved  whether the mapping now routes the table to another topic
        since  number of the mapping set that routed the table to this topic. If it is newer than
               the set by which the group reads the topic, the table has left the topic and returned

        If a marker was read, the client follows it to the next topic, even if the admin's answer
        says that the table is in this topic.
        """
        began, is_awaited = self._followed.since, self.awaited_topic is not None
        known = since if began is None or is_awaited else max(self._followed.after, began)
        if not moved and since <= known:
            stays = self._has_marker and self.awaited_topic is None
            self._heard = self._heard if stays else None
        elif self._heard is None:
            self._heard = time.time()

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to begin a partition: at its first marker before the committed offset `at`;
        without such a marker at `at`.
        """
        partition = (at.topic, at.partition)
        note = CommitNote.read(at.metadata)
        if note is not None and note.table == self._followed.name:
            if note.after > self._followed.after:
                self._returned[partition] = note
                self._floor[partition] = at.offset
                return at
            self._departures.resume(partition, at.offset, note.left)
            if note.first_marker is not None:
                self._first[partition] = note.first_marker
        return self.again(at)

    def again(self, at: TopicPartition) -> TopicPartition:
        """Return the offset from which a partition is read again. Its changes before `at` are
        acknowledged.
        """
        partition = (at.topic, at.partition)
        self._floor[partition] = at.offset
        first = self._first_marker(partition, at.offset)
        return TopicPartition(at.topic, at.partition, at.offset if first is None else first)

    def passes(self, record: Record) -> bool:
        """Return whether a record must be skipped.

        That is a record after the end of its partition, a record that was acknowledged and is read
        again only for its markers, and a record after a return of the table that this client has
        not followed yet.

        Raises CorruptMessage.
        """
        partition = record[:2]
        if record.value is not None and not self._returned and not self._departures.any:
            return record.offset < self._floor.get(partition, 0)
        end = self._departures.end(partition)
        if partition in self._returned or (end is not None and record.offset >= end):
            return True
        marker = marker_of(record)
        if marker is not None and self._departures.note(partition, record.offset, marker):
            self._has_marker = True
            self.hear(moved=True)
        return record.offset < self._floor.get(partition, 0)

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata for the commit of an offset."""
        if partition in self._returned:
            return self._returned[partition].text()
        end = self._departures.end(partition)
        left = self._departures.left(partition) if end is not None and offset >= end else None
        first = self._first_marker(partition, offset)
        followed = self._followed
        since = followed.since
        return CommitNote(followed.name, followed.after, first, left, since=since).text()

    def forget(self, partition: Partition) -> None:
        """Delete the stored markers of a revoked partition."""
        self._departures.forget(partition)
        self._floor.pop(partition, None)
        self._first.pop(partition, None)
        self._returned.pop(partition, None)

    def refuse_late(
        self,
        read_until: float | None,
        partitions: Sequence[Partition],
        has_read_all: Callable[[], bool],
    ) -> None:
        """Raise TableMoved if markers have been missing for too long after a move.

        read_until    the client has read all records before this time (Unix seconds); None: no
                      record came
        partitions    this client's partitions
        has_read_all  returns whether there are no unread records; it decides if no record came,
                      because brokers may be unavailable then
        """
        if self._heard is None:
            return
        if (time.time() if read_until is None else read_until) < self._heard + self._limit:
            return
        if all(self._is_over(each) for each in partitions):
            return
        if read_until is None and not has_read_all():
            return
        missing = "; ".join(
            f"{instance} in {', '.join(f'{topic}/{number}' for topic, number in places)}"
            for instance, places in self._departures.missing().items()
        )
        raise TableMoved(
            f"The mapping gave {self._followed.name} another topic, and {self._limit:g} s later "
            f"topic {self._followed.topic} lacks markers of instances that publish to it "
            f"(missing: {missing or 'all'}).",
            "Start the instances that are missing. If one is permanently removed, name it in "
            f'`removed_instances`. Otherwise read what is left with topic="{self._followed.topic}" '
            "until no more changes come, then start without `topic`.",
        )

    def await_topic(self, topic: str) -> None:
        """Record that Kafka does not have the next topic yet.

        Raises TableMoved if the mapping meanwhile routes the table elsewhere, so that the topic may
        never be created.
        """
        if self.awaited_topic is None:
            self.awaited_topic, self._heard = topic, None
        elif self._heard is not None and time.time() > self._heard + self._limit:
            raise TableMoved(
                f"The mapping moved {self._followed.name} from {self._followed.topic} to {topic}, "
                "which Kafka does not have, and then to another topic.",
                "Delete the offsets of the group in the former topic, then start again.",
            )

    def departure(
        self, consumer: Consumer, topics: Sequence[str], own: Sequence[Partition], now: float
    ) -> Departure | None:
        """Return to which topic the table moved, if the group has read all partitions to their
        ends; None before that.

        consumer  the Kafka client
        topics    topics that are read
        own       partitions of this client
        now       present time (`time.monotonic`)

        The result names the present topic if other clients of the group have already returned to
        it. Raises TableMoved if the mapping no longer has the table, and the errors of Kafka's
        client as errors of this package.
        """
        if now < self._check_at or not all(self._is_over(each) for each in own):
            return None
        self._check_at = now + (_CHECK_SECONDS if own else _WITHOUT_PARTITIONS_SECONDS)
        found = _group_departure(consumer, topics, self._followed)
        if found is not None and not found.to:
            raise TableMoved(
                f"The mapping has no table {self._followed.name} since set {found.set}.",
                "Map the table again, or end this client: all rows before the edit were read.",
            )
        return found

    def _is_over(self, partition: Partition) -> bool:
        return partition in self._returned or self._departures.end(partition) is not None

    def _first_marker(self, partition: Partition, before: int) -> int | None:
        end = self._departures.end(partition)
        read_to_end = end is not None and before >= end and self._departures.met(partition)
        noted = None if read_to_end else self._first.get(partition)
        known = [noted, self._departures.first_marker(partition, before)]
        return min((each for each in known if each is not None), default=None)


def moves_of(options: FeedOptions) -> Moves:
    """Return the object that follows the table of a feed when it moves to another topic."""
    if options.follow is None:
        return NoMoves(options.by_hand or options.stays, by_hand=options.by_hand is not None)
    return MoveFollower(options.follow, options.move_seconds)


def next_options(
    consumer: Consumer, options: FeedOptions, moves: Moves, own: Sequence[Partition]
) -> FeedOptions | None:
    """Return the options for reading the next topic, if the whole group has read the present topic
    to its end.

    Returns None before, and while no broker answers. `own` are the partitions of this client.
    Raises TableMoved if the mapping no longer has the table.
    """
    try:
        return _next_options(consumer, options, moves, own)
    except BrokerUnreachable as exc:
        log_event(logging.INFO, "move_not_checked", group=options.group, reason=exc.reason)
        return None


def _next_options(
    consumer: Consumer, options: FeedOptions, moves: Moves, own: Sequence[Partition]
) -> FeedOptions | None:
    departure = moves.departure(consumer, options.topics, own, time.monotonic())
    if departure is None:
        return None
    moved = options.moved(departure)
    if has_topics(consumer, moved.topics):
        return where_others_are(consumer, moved)
    moves.await_topic(departure.to)  # the relay makes it with the first row
    return None


def where_others_are(consumer: Consumer, options: FeedOptions) -> FeedOptions:
    """Return the options for the topic that other clients of the group have already reached."""
    while options.follow is not None:
        further = _group_departure(consumer, options.topics, options.follow)
        if further is None or not further.to:
            break
        moved = options.moved(further)
        if not has_topics(consumer, moved.topics):
            break
        options = moved
    return options


def _group_departure(
    consumer: Consumer, topics: Sequence[str], followed: Followed
) -> Departure | None:
    """Return where a group that is through with these topics of a table goes; None before.

    None, too, while Kafka does not answer. Raises the errors of Kafka's client as those of this
    package.
    """
    try:
        found = [_departure(consumer, each, followed) for each in topics]
    except KafkaException as exc:
        if is_for_now(error_of(exc)):
            return None
        raise client_error(error_of(exc), "asking for the offsets of the group") from exc
    known = [each for each in found if each is not None]
    return known[0] if len(known) == len(topics) else None


def _departure(consumer: Consumer, topic: str, followed: Followed) -> Departure | None:
    numbers = consumer.list_topics(topic, timeout=_ASK_SECONDS).topics[topic].partitions
    if not numbers:
        return None  # the relay makes it with the first row
    asked = [TopicPartition(topic, each) for each in numbers]
    notes: dict[int, CommitNote] = {}
    for each in consumer.committed(asked, timeout=_ASK_SECONDS):
        note = CommitNote.read(each.metadata)
        if note is not None and note.table == followed.name:
            notes[each.partition] = note
    return next_topic(notes, len(asked), followed)

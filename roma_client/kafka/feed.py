"""Reads a subscription's changes from Kafka in the order of each partition, with receipts."""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from roma_client.errors import ClaimGone, CorruptMessage
from roma_client.kafka.commit_notes import last_of, with_last
from roma_client.kafka.commits import Commits
from roma_client.kafka.membership import Membership, Standing
from roma_client.kafka.messages import EndsMet, Poll, raise_first, sorted_out
from roma_client.kafka.move_follower import moves_of, next_options
from roma_client.kafka.options import FeedOptions, consumer_config
from roma_client.kafka.topics import wait_for_topics
from roma_client.log import log_event
from roma_client.metrics import Metrics
from roma_client.records.ack_book import AckBook, Receipt
from roma_client.records.change import new_tuple
from roma_client.records.decoding import Decoder
from roma_client.records.delivery import Delivery
from roma_client.records.order_guard import OrderGuard, Partition
from roma_client.records.record import Record

_REBALANCE_SECONDS: Final = 0.1  # between two attempts to commit before the client leaves

OnCorrupt = Callable[[Record, CorruptMessage | ClaimGone], None]


class Feed:
    """One member of a consumer group; a context manager for one thread at a time."""

    def __init__(
        self, options: FeedOptions, metrics: Metrics, on_corrupt: OnCorrupt | None = None
    ) -> None:
        """`on_corrupt` stores a record that is no message, or whose claim is gone; None: raise."""
        self._options = options
        self._metrics = metrics
        self._on_corrupt = on_corrupt
        self._book = AckBook()
        self._guard = OrderGuard(repeated=lambda: metrics.happened("repeat"))
        self._records: deque[Record] = deque()
        config = {**consumer_config(options), "on_commit": self._on_commit}
        self._consumer = Consumer(config, logger=logging.getLogger("roma_client.kafka"))
        self._poll = Poll(self._consumer, options.group)
        self._ends = EndsMet(self._consumer)
        self._commits = Commits(
            self._consumer, options, self._book, metrics, self.note, self._on_removed
        )
        self._membership = Membership(self._consumer, options, self)
        self._moves = moves_of(options)
        self._decoder = Decoder(options.selection, options.reading)
        self._quiet_until = float("-inf")  # until then nothing but a lost group needs attention
        self.has_joined = False  # whether the group has answered, maybe without a partition
        self.before_revoke: Callable[[], None] = lambda: None

    def __enter__(self) -> "Feed":
        try:
            self._membership.join(wait_for_topics(self._consumer, self._options.topics))
        except BaseException:
            self._membership.leave()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_active(self) -> bool:
        """Return whether this client has partitions."""
        return bool(self._book.partitions())

    def fetch(self, limit: int, timeout_seconds: float, parsed: int = 0) -> list[Delivery]:
        """Return the next changes, from at most `limit` records; empty after the timeout.

        `parsed`: return about this many changes now, and the others in later calls; 0: no limit.
        Raises CorruptMessage, ClaimUnreadable, ClaimGone, RowsExpired, TableMoved, Kafka's errors.
        """
        if not self._records:
            self._move_on()
            self._receive(limit, timeout_seconds)
            looked_at = min((each.timestamp for each in self._records), default=None)
            self._moves.refuse_late(looked_at, self._book.partitions(), self.has_read_all)
        found: list[Delivery] = []
        while self._records and len(found) < (parsed or limit):
            try:
                self._deliver(self._records[0], found)
            except Exception:
                if found:
                    break  # they come first; the next call meets the record again
                raise
            self._records.popleft()
        self.commit_when_due()
        return found

    def has_read_all(self) -> bool:
        """Return whether all records in this client's partitions were read. It queries Kafka."""
        return not self._records and self._ends.are_all_of(self._book.partitions())

    def standing(self, receipt: Receipt) -> Standing:
        """Return whether a fetched change may still be given to the service.

        If the last proof of membership is too old, the client requests another one. It also commits
        acknowledged offsets if that is due. Raises the errors of `fetch`.
        """
        now = time.monotonic()
        if now < self._quiet_until:
            return Standing.CURRENT if receipt.assignment.is_current else Standing.VOID
        self._poll_when_due()
        self.prove()
        if self.known_standing(receipt) is Standing.UNPROVEN:
            self._take(self._poll.consume(1, 0))  # tells of partitions that were given away
        standing = self.known_standing(receipt)
        if standing is Standing.CURRENT:
            self.commit_when_due()
        self._quiet_until = min(self._commits.due_at, self._poll.due_at)
        return standing

    def known_standing(self, receipt: Receipt) -> Standing:
        """Return the same as `standing` without a request to Kafka. Safe in any thread."""
        if not self._book.is_current(receipt):
            return Standing.VOID
        return Standing.CURRENT if self._commits.holds else Standing.UNPROVEN

    def prove(self) -> None:
        """Send a commit if the last proof of membership is old. No messages are polled."""
        self._commits.prove()

    def ack(self, receipt: Receipt) -> bool:
        """Acknowledge a change; return False if its partition was revoked before."""
        if self._book.ack(receipt):
            return True
        self._metrics.happened("lost_ack")
        partition = receipt.assignment.partition
        log_event(logging.WARNING, "acknowledgement_void", at=(*partition, receipt.offset))
        return False

    def commit_when_due(self) -> None:
        """Commit the acknowledged offsets, if the last commit is long enough ago."""
        self._commits.commit_when_due()

    def commit(self, *, wait: bool = False) -> bool:
        """Commit the acknowledged offsets. With `wait`, return whether the broker accepted the
        commit.

        Offsets that it did not accept are committed again later. After a refusal an exclusive
        client has no partitions. Other clients return no changes until a commit is accepted or the
        group reports which partitions are lost.
        """
        return self._commits.commit(wait=wait)

    def rewind(self) -> None:
        """Read again from each partition's last acknowledgement; older receipts become invalid."""
        self._records.clear()
        offsets = self._book.committable()
        starts = [TopicPartition(*at, offset) for at, offset in offsets.items()]
        self._membership.read_again([self._moves.again(each) for each in starts])
        for partition, offset in offsets.items():
            self._guard.rewind(partition, offset)
            self._book.assign(partition, offset)

    def keep_membership(self) -> None:
        """Poll Kafka's client, so that the group keeps this member during long processing."""
        self._poll_when_due()
        self.prove()
        self.commit_when_due()

    def close(self) -> None:
        """Commit the acknowledged offsets, and leave the group.

        A commit that is refused while the group rebalances is repeated for half a session timeout.
        """
        deadline = time.monotonic() + self._options.session_timeout_seconds / 2
        try:
            while self.is_active and not self.commit(wait=True) and time.monotonic() < deadline:
                self._poll.consume(1, _REBALANCE_SECONDS)
        except Exception as exc:  # noqa: BLE001  # it was raised before, where it happened
            log_event(logging.WARNING, "closed_without_commit", reason=exc)
        finally:
            self._membership.leave()

    def begin(self, at: TopicPartition) -> TopicPartition:
        """Return where to begin a partition: at `at`, or earlier to read markers again."""
        return self._moves.begin(at)

    def assigned(self, starts: Sequence[TopicPartition]) -> None:
        """Begin to read partitions that the group has assigned to this client."""
        self.has_joined = True
        for each in starts:
            self._book.assign((each.topic, each.partition), each.offset)
            self._guard.begin((each.topic, each.partition), last_of(each.metadata))
        if starts:
            self.commit(wait=True)

    def revoked(self, partitions: Sequence[Partition], *, lost: bool) -> None:
        """Stop reading partitions. First commit, unless they are already `lost` to others."""
        if not lost:
            self.before_revoke()
            self.commit(wait=True)
        for each in partitions:
            self._book.revoke(each)
            self._guard.forget(each)
            self._commits.forget(each)
            self._ends.forget(each)
            self._moves.forget(each)
            self._metrics.gone(each)
        gone = set(partitions)
        self._records = deque(r for r in self._records if r.source_partition not in gone)

    def partitions(self) -> list[Partition]:
        """Return the partitions that this client has."""
        return self._book.partitions()

    def hear(self, *, moved: bool, since: int = 0) -> None:
        """Record the admin's answer whether the table moved; see `Moves.hear`. Thread-safe."""
        self._moves.hear(moved=moved, since=since)

    @property
    def topic(self) -> str:
        """Return the topic that is read. If the table moved and Kafka does not have its next topic
        yet, return the next topic: the client waits for it.
        """
        return self._moves.awaited_topic or self._options.topics[0]

    def _move_on(self) -> None:
        """Read the next topic of the table if the group has read this one. Raises TableMoved."""
        if not self.has_joined:
            return
        moved = self._membership.newer_options() or next_options(
            self._consumer, self._options, self._moves, self.partitions()
        )
        if moved is not None:
            self._read_elsewhere(moved)

    def _read_elsewhere(self, moved: FeedOptions) -> None:
        """Read other topics as the same member of the group, whose commits have everything."""
        log_event(logging.INFO, "table_moved", group=moved.group, topic=moved.topics[0])
        self.revoked(self._book.partitions(), lost=True)
        self._options = moved
        self._moves = moves_of(moved)
        self._decoder = Decoder(moved.selection, moved.reading)
        self.has_joined = self._membership.reads_all(moved.topics)
        self._membership.read_elsewhere(moved)

    def _poll_when_due(self) -> None:
        if time.monotonic() > self._poll.due_at:
            self._take(self._poll.consume(1, 0))

    def _receive(self, limit: int, timeout_seconds: float) -> None:
        """Keep the records that are there, at most of `limit` messages; wait only for the first.

        Kafka's client waits until it has as many messages as it is asked for.
        """
        self._take(self._poll.consume(limit, 0))
        if self._records or timeout_seconds <= 0:
            return
        self._take(self._poll.consume(1, timeout_seconds))
        if self._records and limit > 1:
            self._take(self._poll.consume(limit - 1, 0))

    def _take(self, messages: Sequence[Message]) -> None:
        """Keep all records, then raise the first error."""
        records, failures = sorted_out(messages, self._met_end)
        self._records += self._book.own(records)
        raise_first(failures)

    def _met_end(self, partition: Partition, offset: int) -> None:
        self._ends.note(partition, offset)

    def _deliver(self, record: Record, found: list[Delivery]) -> None:
        """Add the new changes of a record to those that are `found`."""
        if self._moves.passes(record):
            return
        try:
            changes = self._decoder.changes(record)
        except (CorruptMessage, ClaimGone) as exc:
            if self._on_corrupt is None:
                raise
            self._on_corrupt(record, exc)
            changes = []
        partition, offset = record[:2], record.offset
        new = self._guard.new_of(partition, changes, offset)
        receipt = self._book.deliver(partition, offset, len(new))
        found.extend(new_tuple(Delivery, (each, receipt, record)) for each in new)

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata for the commit of an offset."""
        last = None if self._book.is_open(partition) else self._guard.last(partition)
        return with_last(self._moves.note(partition, offset), last)

    def _on_commit(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        self._commits.answered(error, partitions)

    def _on_removed(self) -> None:
        self._quiet_until = float("-inf")
        if self._options.exclusive:  # its next assignment names all partitions, others' does not
            self.revoked(self._book.partitions(), lost=True)

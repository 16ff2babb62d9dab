"""Reads whole transactions: the rows of the tables, and the BEGIN and END messages."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, Protocol

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from roma_client.errors import CorruptMessage, UsageError
from roma_client.kafka.failures import client_error, error_of
from roma_client.kafka.feed import Feed
from roma_client.kafka.options import FeedOptions
from roma_client.metrics import Metrics
from roma_client.records.ack_book import Receipt
from roma_client.records.delivery import Delivery
from roma_client.records.order_guard import Partition
from roma_client.records.pending import (
    NONE_DONE,
    UNKNOWN_TIME,
    Moment,
    ReadyTransaction,
    Rows,
)
from roma_client.records.record import ORDER, TRANSACTION, Record
from roma_client.records.transaction import Report, TransactionId, report_of, transaction_id

_ASK_SECONDS: Final = 15.0
_DONE: Final = "done "
_NOTED: Final = re.compile(rf"{_DONE}(?P<before>[0-9]+)(?: (?P<time>[0-9]+))?", re.ASCII)


class Assembly(Protocol):
    """Assembles records into transactions.

    `rows` and `report` return whether the record's offset must not be committed until the
    transaction is acknowledged.
    """

    def begin(self, cut: AbstractSet[Partition], done: Moment = ...) -> None:
        """Drop all records and begin to collect transactions again.

        cut   partitions that the group never read before and that are not read from their first
              record
        done  moment of the last acknowledged transaction
        """

    def rows(self, rows: Rows) -> bool:
        """Add the rows of a record."""

    def report(self, report: Report, receipt: Receipt) -> bool:
        """Add a BEGIN or END message."""


class Ends(NamedTuple):
    """The end offsets of partitions. They are high watermarks, so they also include the records of
    Kafka transactions that are still open.

    session     the feed's `session` at the time of the request: ends are valid for one assignment
    reports     offset up to which the feed had read BEGIN and END messages when it requested the
                ends. If the END message of a transaction is before this offset, all rows of the
                transaction are before the ends.
    partitions  partitions of rows, and of BEGIN and END messages → end
    """

    session: int
    reports: int
    partitions: Mapping[Partition, int]


class TransactionFeed(Feed):
    """The feed of a group with only one active member. It passes all records to an assembly, so
    `fetch` returns no changes.

    It must be used by one thread.
    """

    def __init__(
        self, options: FeedOptions, metrics: Metrics, assembly: Assembly, reports: Partition
    ) -> None:
        super().__init__(options, metrics)
        self._assembly = assembly
        self._reports = reports
        self._read: dict[Partition, int] = {}
        """Offset up to which each partition was read, markers of Kafka included."""
        self._paused: set[Partition] = set()
        """Partitions that Kafka's client holds back. They stay so when they are assigned again."""
        self._done = NONE_DONE
        self.session = 0
        """Rises with each assignment and revocation."""

    def assigned(self, starts: Sequence[TopicPartition]) -> None:
        """Begin to collect records from these offsets on. Raises UsageError if the topic contains
        several instances.
        """
        at = {(each.topic, each.partition): each.offset for each in starts}
        topic, number = self._reports
        if any(each[0] == topic and each[1] != number for each in at):
            raise UsageError(
                f"The topic of transactions {topic} has several partitions, so it does not show "
                "the order of the transactions.",
                "Let the relay create the topic of transactions, with one partition.",
            )
        notes = [each.metadata for each in starts if (each.topic, each.partition) == self._reports]
        self._done = max((_done_of(each) for each in notes), default=NONE_DONE)
        self._begin(self._cut(at), self._done)
        self._read.update(at)
        self.hold_back(frozenset())
        super().assigned(starts)

    def revoked(self, partitions: Sequence[Partition], *, lost: bool) -> None:
        """Drop all collected records, because partitions were revoked. Transactions that are not
        acknowledged are delivered again.
        """
        super().revoked(partitions, lost=lost)
        self._begin(frozenset())

    def acknowledge(self, ready: ReadyTransaction) -> bool:
        """Acknowledge a transaction. Return False if the partitions were revoked before."""
        if not all(self.ack(each) for each in ready.receipts):
            return False
        if ready.done is not None:
            self._done = max(self._done, ready.done)
        return True

    def hold_back(self, partitions: AbstractSet[Partition]) -> None:
        """Pause reading these partitions, and resume all others that are assigned."""
        assigned = self._read.keys()
        wanted = partitions & assigned
        if paused := wanted - self._paused:
            self._consumer.pause([TopicPartition(*each) for each in paused])
        if resumed := (self._paused & assigned) - wanted:
            self._consumer.resume([TopicPartition(*each) for each in resumed])
        self._paused = (self._paused - resumed) | wanted

    def ends(self) -> Ends:
        """Return the present ends of all partitions.

        Raises BrokerUnreachable, NotPermitted, KafkaRefused.
        """
        end: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
        asked = {TopicPartition(*each): end for each in self._read}
        admin = AdminClient(dict(self._options.kafka))  # must live until the answer
        reports = self._read.get(self._reports, 0)
        try:
            found = admin.list_offsets(
                asked,
                isolation_level=IsolationLevel.READ_UNCOMMITTED,
                request_timeout=_ASK_SECONDS,
            )
            ends = {(at.topic, at.partition): each.result().offset for at, each in found.items()}
        except KafkaException as exc:
            raise client_error(error_of(exc), "asking for the ends of partitions") from exc
        return Ends(self.session, reports, ends)

    def has_read(self, ends: Ends, ahead: AbstractSet[Partition]) -> bool:
        """Return whether everything before these ends was given to the assembly.

        Partitions that are `ahead` may be paused: they are not needed for the next transaction.
        """
        return not self._records and all(
            at in ahead or self._read.get(at, -1) >= end for at, end in ends.partitions.items()
        )

    def _cut(self, at: Mapping[Partition, int]) -> frozenset[Partition]:
        """Return the partitions whose first records a new group cannot read.

        A group with commits has read its topics: rows that it lacks are missing, also where it
        begins a further topic after a move.
        """
        unread = self._membership.unread
        is_new = unread >= at.keys()
        return frozenset(each for each in unread if is_new and at.get(each, 0) > 0)

    def _begin(self, cut: frozenset[Partition], done: Moment = NONE_DONE) -> None:
        self.session += 1
        self._read = {}
        self._assembly.begin(cut, done)

    def note(self, partition: Partition, offset: int) -> str:
        """Return the metadata for the commit of an offset. In the topic of BEGIN and END messages
        it names the last acknowledged transaction.
        """
        if partition == self._reports:
            time = "" if self._done.time == UNKNOWN_TIME else f" {self._done.time}"
            return f"{_DONE}{self._done.before}{time}"
        return super().note(partition, offset)

    def _met_end(self, partition: Partition, offset: int) -> None:
        super()._met_end(partition, offset)
        self._read[partition] = max(self._read.get(partition, 0), offset)

    def _deliver(self, record: Record, _found: list[Delivery]) -> None:
        """Add the record to the assembly; no change is delivered alone."""
        partition = record.source_partition
        receipt = self._book.deliver(partition, record.offset, 1)
        if not self._assembled(record, receipt):
            self._book.ack(receipt)
        self._read[partition] = max(self._read.get(partition, 0), record.offset + 1)

    def _assembled(self, record: Record, receipt: Receipt) -> bool:
        if record.source_partition == self._reports:
            report = report_of(record)
            return report is not None and self._assembly.report(report, receipt)
        partition, id_ = record.source_partition, _id_of(record)
        changes = self._decoder.changes(record)
        new = [each for each in changes if self._guard.takes(partition, each, record.offset)]
        # The assembly finds repeats of whole transactions; others have only their order.
        kept = new if id_ is None else changes
        size = len(record.value or b"")
        return self._assembly.rows(Rows(partition, id_, kept, size, receipt, _time_of(record)))


def _done_of(metadata: str | None) -> Moment:
    """Return what a commit notes as done; NONE_DONE if it notes nothing.

    Former releases noted no time.
    """
    found = _NOTED.fullmatch(metadata or "")
    if found is None:
        return NONE_DONE
    return Moment(int(found["time"] or UNKNOWN_TIME), int(found["before"]))


def _time_of(record: Record) -> int:
    """Return the execute time of a record's first row, in Unix ms. Raises CorruptMessage."""
    header = record.header(ORDER)
    if header is None:
        return UNKNOWN_TIME
    time = header.split(b".")[0]
    if not time.isdigit():
        raise CorruptMessage(
            f"Record {record.offset} of {record.topic}, partition {record.partition}: "
            f"{header!r} is not an order header."
        )
    return int(time)


def _id_of(record: Record) -> TransactionId | None:
    """Return the id in a record's header. Raises CorruptMessage for another text."""
    header = record.header(TRANSACTION)
    if header is None:
        return None
    try:
        return transaction_id(header.decode("utf-8"))
    except ValueError as exc:
        raise CorruptMessage(
            f"Record {record.offset} of {record.topic}, partition {record.partition}: {exc}."
        ) from exc

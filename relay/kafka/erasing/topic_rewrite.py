"""Rewrites a topic of one partition without some of its bytes (ADR 67).

Kafka cannot change a record. The remaining records are copied to the end, into a new segment, and
everything before the copies is deleted. Kafka removes the files of segments that contain only
deleted records.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from relay.errors import ErasureInterrupted, RelayError
from relay.kafka.client import client_configuration, kafka_client
from relay.kafka.erasing.rewrite_turn import RewriteTurn
from relay.kafka.erasing.segment_setting import AT_ONCE, SegmentSetting
from relay.kafka.errors import error_of, kafka_errors, relay_error
from relay.kafka.partition_reader import READ_SECONDS, KeyAndValue, PartitionReader
from relay.kafka.rights import Right
from relay.settings import KafkaSettings

_REQUEST_SECONDS: Final = 20.0
_COMMIT_SECONDS: Final = 60.0
_TRANSACTION_MS: Final = 60_000
_BATCH_BYTES: Final = 4_000_000
_CHANGED: Final = (
    "The setting segment.ms of {} was changed during the rewrite, so its files may still "
    "contain old bytes."
)

Change: TypeAlias = Callable[[KeyAndValue], KeyAndValue | None]
"""Returns the new value of a record. None: the record is omitted."""


class Rewritten(NamedTuple):
    """The number of copied records, and the first offset of the topic after the rewrite."""

    copied: int
    first_offset: int


class TopicRewrite:
    """Rewrites partition 0 of one topic while other producers append to it.

    A rewrite may be interrupted and repeated. If an interrupted rewrite left copies of records, the
    next rewrite copies each record only once.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        topic: str,
        turn: RewriteTurn,
        unreadable: type[RelayError],
        *,
        reading_s: float = READ_SECONDS,
    ) -> None:
        self._kafka = kafka
        self._topic = topic
        self._turn = turn
        self._segments = SegmentSetting(kafka)
        self._reader = PartitionReader(kafka, topic, unreadable, reading_s=reading_s)
        self._admin = kafka_client(AdminClient, client_configuration(kafka))
        self._copied: set[bytes] = set()

    def run(self, change: Change) -> Rewritten:
        """Copy the result of `change` for each record, then delete the originals.

        Raises `unreadable` if an open transaction hides records; nothing is deleted then. Raises
        ErasureInterrupted if the turn was lost; the topic may then still have originals.
        """
        self._copied.clear()
        first, end = self._reader.ends()
        with self._new_segment():
            begin, count = self._copy(first, end, change)
            if begin is None:  # `change` omitted every record
                self._close_segment()
                begin = end
            else:
                # records that other producers appended between the read of `end` and the first copy
                count += self._copy(end, begin, change)[1]
        delete_records(self._admin, self._topic, {0: begin})
        self._turn.check()  # the process of a later turn may have copied the originals meanwhile
        return Rewritten(count, begin)

    def _copy(self, first: int, end: int, change: Change) -> tuple[int | None, int]:
        """Copy the records from offset `first` up to `end`.

        Return the offset of the first copy and the number of copies. A transaction ends only where
        the key changes, so the records of one dead letter become visible together.
        """
        if first >= end:
            return None, 0
        begin: int | None = None
        count = 0
        producer = self._ready_producer()
        for batch in _batches(self._changed(first, end, change)):
            offset = self._write(producer, batch)
            begin = offset if begin is None else begin
            count += len(batch)
        return begin, count

    def _changed(self, first: int, end: int, change: Change) -> Iterator[KeyAndValue]:
        for record in self._reader.committed(first, end):
            changed = change(record)
            if changed is None:
                continue
            digest = _digest(changed)
            if digest not in self._copied:
                self._copied.add(digest)
                yield changed

    def _close_segment(self) -> None:
        """Append a record in an aborted transaction, because Kafka never deletes the last
        segment.
        """
        self._write(self._ready_producer(), [(None, b"")], seen=False)

    def _write(self, producer: Producer, batch: Iterable[KeyAndValue], *, seen: bool = True) -> int:
        """Write one transaction and return the offset of its first record.

        seen  False: abort it once Kafka has its records
        """
        offsets: list[int] = []
        refused: list[KafkaError] = []

        def report(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                refused.append(error)
            elif (offset := message.offset()) is not None:
                offsets.append(offset)

        try:
            producer.begin_transaction()
            for key, value in batch:
                producer.produce(self._topic, value, key, 0, report)
                producer.poll(0)
            if seen:
                producer.commit_transaction(_COMMIT_SECONDS)
            else:
                producer.flush(_COMMIT_SECONDS)
                producer.abort_transaction(_COMMIT_SECONDS)
        except KafkaException as exc:
            raise self._refusal(refused[0] if refused else error_of(exc)) from exc
        if refused:
            raise self._refusal(refused[0])
        return min(offsets)

    def _refusal(self, error: KafkaError) -> RelayError:
        return relay_error(error, f"Copying {self._topic}", Right("Write", "topic", self._topic))

    @contextmanager
    def _new_segment(self) -> Iterator[None]:
        """Context manager: each record may begin a new segment. The topic's own setting is restored
        at the end.

        The setting is stored before it is changed. If this process dies, the next turn restores it.
        If the turn is lost, the next turn restores it too.
        """
        found = self._segments.own(self._topic)
        own = None if found == AT_ONCE else found
        self._turn.note(self._topic, own)
        self._segments.write(self._topic, AT_ONCE)
        try:
            yield
            self._turn.check()
            if self._segments.own(self._topic) != AT_ONCE:
                raise ErasureInterrupted(_CHANGED.format(self._topic))
        finally:
            self._put_back(own)

    def _put_back(self, own: str | None) -> None:
        self._turn.check()
        self._segments.write(self._topic, own)
        self._turn.restored(self._topic)

    def _ready_producer(self) -> Producer:
        self._turn.check()  # a process that lost its turn must not fence its successor
        transactional_id = self._turn.transactional_id
        producer = kafka_client(
            Producer,
            {
                **client_configuration(self._kafka),
                "transactional.id": transactional_id,
                "transaction.timeout.ms": _TRANSACTION_MS,
            },
        )
        with kafka_errors(
            f"Copying {self._topic}", Right("Write", "transactional-id", transactional_id)
        ):
            producer.init_transactions(_REQUEST_SECONDS)
        return producer


def delete_records(admin: AdminClient, topic: str, offsets: Mapping[int, int]) -> None:
    """Delete all records of partitions before the given offsets. Raises KafkaNotPermitted."""
    places = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
    with kafka_errors(f"Deleting records of {topic}", Right("Delete", "topic", topic)):
        asked = admin.delete_records(places, request_timeout=_REQUEST_SECONDS)
        for each in places:
            asked[each].result()


def _batches(records: Iterable[KeyAndValue]) -> Iterator[list[KeyAndValue]]:
    """Yield the records in transactions of some megabytes. Consecutive records of one key are not
    split.
    """
    batch: list[KeyAndValue] = []
    size = 0
    for _, run in groupby(records, lambda each: each[0]):
        batch.extend(run)
        size = sum(len(value or b"") for _, value in batch)
        if size >= _BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _digest(record: KeyAndValue) -> bytes:
    key, value = record
    return sha256(f"{len(key or b'')}:".encode() + (key or b"") + (value or b"")).digest()

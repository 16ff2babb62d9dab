"""Stores in the memory of the program: records beside the position, and mapping sets.

A relay with Kafka stores these records in compacted topics, and mapping sets in ZooKeeper.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Final

from relay.errors import NodeMissing
from relay.kafka import Record
from relay.model.message import OutboundMessage
from relay.model.names.mapping_name import digest_of
from relay.model.records.position_record import PositionRecord
from relay.position import keep_named, kept_documents
from relay.state import Note, SetRecord, StoredSet

MAPPINGS: Final = "mapping"
POSITION: Final = "position"
_DELETIONS: Final = 10_000
"""Number of the newest deletions that stay readable by offset."""


class LocalRecords:
    """The records of one store, in the order in which they were written. Used by one thread."""

    def __init__(self, topic: str, records: Mapping[bytes, bytes]) -> None:
        self.topic = topic
        self._entries: dict[bytes, tuple[int, bytes | None]] = {
            key: (offset, value) for offset, (key, value) in enumerate(records.items())
        }
        self._end = len(self._entries)
        self._deleted: list[bytes] = []

    def write(self, key: bytes, value: bytes | None) -> None:
        """Replace or delete the value of a key, as part of a committed batch."""
        self._entries.pop(key, None)
        self._entries[key] = (self._end, value)
        self._end += 1
        if value is None:
            self._deleted.append(key)
            if len(self._deleted) > _DELETIONS:
                self._forget_deletions()

    def ensure_topic(self) -> bool:
        """Return False: the store exists already, nothing was created."""
        return False

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        """Return the record as a message that joins a batch."""
        return OutboundMessage(self.topic, 0, key, value, ())

    def messages(self, records: Iterable[tuple[bytes, bytes | None]]) -> list[OutboundMessage]:
        """Return the records as messages that join a batch."""
        return [self.message(key, value) for key, value in records]

    def read(self) -> dict[bytes, bytes]:
        """Return the value of each key that is not deleted."""
        return {key: value for key, (_, value) in self._entries.items() if value is not None}

    def ends(self) -> tuple[int, int]:
        """Return the oldest offset and the offset after the newest record."""
        return 0, self._end

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        """Yield offset, key and value of each record with first <= offset < end."""
        for key, (offset, value) in list(self._entries.items()):
            if first <= offset < end:
                yield offset, key, value

    def _forget_deletions(self) -> None:
        for key in self._deleted[: _DELETIONS // 2]:
            if self._entries.get(key, (0, b""))[1] is None:
                del self._entries[key]
        del self._deleted[: _DELETIONS // 2]


class LocalPositions:
    """Creates the messages of the position; the program stores their contents."""

    def message(self, record: PositionRecord) -> OutboundMessage:
        """Return the position record as a message that joins the batch."""
        return OutboundMessage(POSITION, 0, b"", record.to_bytes(), ())

    def history_messages(self, record: PositionRecord, now_ms: int) -> Sequence[OutboundMessage]:
        """Return no messages: to move the position back, the program uses an older copy of it."""
        del record, now_ms
        return ()

    def keep_mappings(
        self, record: PositionRecord, contents: Mapping[str, Mapping[str, str]]
    ) -> tuple[PositionRecord, list[OutboundMessage]]:
        """Return the record with the list of stored mapping sets, and the messages that store
        them.
        """
        record, changes = keep_named(record, contents)
        return record, [
            OutboundMessage(MAPPINGS, 0, key.encode(), value, ()) for key, value in changes
        ]


class GivenMapping:
    """The mapping documents in the program's arguments, as a numbered set.

    If they differ from the set in the position record, they become the next set. A transaction that
    was delivered in part is completed under the set of the record.
    """

    def __init__(
        self, documents: Mapping[str, str], record: PositionRecord | None, kept: LocalRecords
    ) -> None:
        self._kept = kept
        self._former = None if record is None else record.mapping
        number = 1
        if self._former is not None:
            number = self._former.number + (digest_of(documents) != self._former.digest)
        self._given = StoredSet(SetRecord(number, {}, Note()), dict(documents))

    def number(self) -> int:
        """Return the number of the set."""
        return self._given.number

    def current(self) -> StoredSet:
        """Return the set of the documents in the program's arguments."""
        return self._given

    def load(self, number: int) -> StoredSet:
        """Return the set of this number: the present one or that of the record. Raises NodeMissing
        for another.
        """
        if number == self._given.number:
            return self._given
        former = self._former
        documents = None
        if former is not None and number == former.number:
            documents = self.kept(former.digest)
        if documents is None:
            raise NodeMissing(f"The position does not hold mapping set {number}.")
        return StoredSet(SetRecord(number, {}, Note()), documents)

    def kept(self, digest: str) -> Mapping[str, str] | None:
        """Return the documents of the set with this digest, if the position has them; otherwise
        None.
        """
        return kept_documents(
            digest, {key.decode(): value for key, value in self._kept.read().items()}
        )

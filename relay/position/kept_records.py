"""The interface of records that are stored beside a position, in any kind of store."""

from collections.abc import Generator, Iterable
from typing import Protocol

from relay.kafka import Record
from relay.model.message import OutboundMessage


class KeptRecords(Protocol):
    """Records with keys, for one purpose, in the order in which they were written.

    The value of a key is its last record; a record without a value deletes the key. `topic` is the
    name of the store. A record is stored when the batch that contains its message is committed.
    """

    topic: str

    def ensure_topic(self) -> bool:
        """Create the store if it does not exist; return whether it was created."""

    def message(self, key: bytes, value: bytes | None) -> OutboundMessage:
        """Return a record with this key and value as a message, to be committed with a batch.
        `value` None deletes the key.
        """

    def messages(self, records: Iterable[tuple[bytes, bytes | None]]) -> list[OutboundMessage]:
        """Return one message for each record (key, value), to be committed with a batch. A value
        None deletes the key.
        """

    def read(self) -> dict[bytes, bytes]:
        """Return the committed value of each key that is not deleted."""

    def ends(self) -> tuple[int, int]:
        """Return the oldest offset and the offset after the newest record."""

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        """Yield offset, key and value of each committed record with first <= offset < end."""

"""What the publish room sends."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

Headers: TypeAlias = "tuple[tuple[str, bytes], ...]"


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One Kafka record; `value` None is a tombstone, `key` None means that the row has no key."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers


HeaderList: TypeAlias = "list[tuple[str, str | bytes | None]]"
"""Headers as the Kafka client takes them."""

BLOCK_HEAD: Final = struct.Struct("=iiii")
"""Before each message of a block: partition, bytes of the value, of the key and of the orders; -1 where there is none."""
BLOCK_ORDER_BYTES: Final = 33
"""Behind the head stands the order of the first row, then orders, key and value."""


class PrintedMessages(NamedTuple):
    """Messages of one topic that were printed together, one after another in `block`.

    `number` of them with values of `value_bytes` together. `names` are those of the header with the order of a message's first row and of
    the one with its other rows' orders; `tail` are the headers behind, the same for all.
    """

    number: int
    value_bytes: int
    block: bytes
    names: tuple[str, str]
    tail: Headers

    def each(self, topic: str) -> Iterator[OutboundMessage]:
        """Yield them one by one."""
        at = 0
        for _ in range(self.number):
            message, at = self.message_at(topic, at)
            yield message

    def message_at(self, topic: str, at: int) -> tuple[OutboundMessage, int]:
        """Return the message that begins at this byte of the block, and where the next one does."""
        block = self.block
        partition, value_bytes, key_bytes, orders_bytes = BLOCK_HEAD.unpack_from(block, at)
        at += BLOCK_HEAD.size + BLOCK_ORDER_BYTES
        headers = [(self.names[0], block[at - BLOCK_ORDER_BYTES : at])]
        if orders_bytes >= 0:
            headers.append((self.names[1], block[at : at + orders_bytes]))
            at += orders_bytes
        key = None
        if key_bytes >= 0:
            key = block[at : at + key_bytes]
            at += key_bytes
        value = block[at : at + value_bytes]
        return OutboundMessage(topic, partition, key, value, (*headers, *self.tail)), at + value_bytes


PrintedRecord: TypeAlias = "tuple[int, bytes | None, bytes, bytes, bytes | None]"
"""One message: partition, key, value, the order of its first row, and the orders of the others if there are any."""


class PrintedRecords(NamedTuple):
    """The same as PrintedMessages, with an object for each message: Python code neither packs nor cuts a block as fast."""

    records: Sequence[PrintedRecord]
    value_bytes: int
    names: tuple[str, str]
    tail: Headers

    @property
    def number(self) -> int:
        """Return the number of messages."""
        return len(self.records)

    def each(self, topic: str) -> Iterator[OutboundMessage]:
        """Yield them one by one."""
        return (self.message(topic, record) for record in self.records)

    def message(self, topic: str, record: PrintedRecord) -> OutboundMessage:
        """Return one of the records as a message of its own."""
        partition, key, value, order, orders = record
        own = [(self.names[0], order)]
        if orders is not None:
            own.append((self.names[1], orders))
        return OutboundMessage(topic, partition, key, value, (*own, *self.tail))


Printed: TypeAlias = PrintedMessages | PrintedRecords
"""What a printer makes of the rows of an event."""


def joined(parts: Sequence[Printed]) -> Printed:
    """Return messages of one form with the same headers behind their order as one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    value_bytes = sum([each.value_bytes for each in parts])
    records = [each.records for each in parts if isinstance(each, PrintedRecords)]
    blocks = [] if len(records) == len(parts) else [each.block for each in parts if isinstance(each, PrintedMessages)]
    if isinstance(first, PrintedRecords) and not blocks:
        return PrintedRecords([*chain.from_iterable(records)], value_bytes, first.names, first.tail)
    if isinstance(first, PrintedMessages) and not records:
        number = sum([each.number for each in parts])
        return PrintedMessages(number, value_bytes, b"".join(blocks), first.names, first.tail)
    raise ValueError("blocks and records are not joined")

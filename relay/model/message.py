"""Messages between the printers and the publisher: one by one, or many in one block of bytes."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
"""The start of each message in a block: partition, then the sizes of value, key and `orders` header
in bytes; -1 for a missing one.
"""
BLOCK_ORDER_BYTES: Final = 33
"""Bytes of the `order` header of the first row, which follows BLOCK_HEAD. Then come the `orders`
header, the key and the value.
"""


class PrintedMessages(NamedTuple):
    """Messages of one topic that compiled code printed together.

    number       number of messages
    value_bytes  bytes of their values together
    block        the messages one after another, each as described at BLOCK_HEAD
    names        names of the headers `order` and `orders`
    tail         the headers after these, the same for all messages
    """

    number: int
    value_bytes: int
    block: bytes
    names: tuple[str, str]
    tail: Headers

    def each(self, topic: str) -> Iterator[OutboundMessage]:
        """Yield the messages of the block one by one."""
        at = 0
        for _ in range(self.number):
            message, at = self.message_at(topic, at)
            yield message

    def message_at(self, topic: str, at: int) -> tuple[OutboundMessage, int]:
        """Return (the message that begins at byte `at` of the block, the byte where the next one
        begins).
        """
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
        return OutboundMessage(
            topic, partition, key, value, (*headers, *self.tail)
        ), at + value_bytes


def joined(parts: Sequence[PrintedMessages]) -> PrintedMessages:
    """Return several blocks as one. They must have the same `names` and `tail` of headers."""
    first = parts[0]
    if len(parts) == 1:
        return first
    number, value_bytes = (
        sum([each.number for each in parts]),
        sum([each.value_bytes for each in parts]),
    )
    return PrintedMessages(
        number, value_bytes, b"".join([each.block for each in parts]), first.names, first.tail
    )

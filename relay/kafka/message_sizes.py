"""Computes the size of a message in Kafka, and the size that a topic accepts.

Sizes are counted before compression, because the compressed size is unknown beforehand.
"""

from collections.abc import Mapping
from typing import Final

from relay.model.message import Headers, OutboundMessage

RECORD_BYTES: Final = 128
"""Bytes that Kafka adds to a message, with a margin: a batch adds 61, lengths and times of a record
at most 36.
"""
HEADER_BYTES: Final = 10
"""Largest number of bytes that the two length fields add to each header."""
_LIMITS: Final = ("max.message.bytes", "segment.bytes")


def topic_limit(settings: Mapping[str, str], message_max_bytes: int) -> int:
    """Return the largest batch that producer and topic accept, in bytes.

    Settings that the brokers do not return are ignored.
    """
    told = (settings.get(name, "") for name in _LIMITS)
    return min([message_max_bytes, *(int(each) for each in told if each.isdecimal())])


def message_bytes(message: OutboundMessage) -> int:
    """Return the largest size of a message alone in its batch, in bytes."""
    return (
        _size(message.headers) + len(message.key or b"") + len(message.value or b"") + RECORD_BYTES
    )


def _size(headers: Headers) -> int:
    return sum(len(name.encode()) + len(value) + HEADER_BYTES for name, value in headers)

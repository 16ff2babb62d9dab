"""MySQL's TRANSACTION_PAYLOAD event: the events of one transaction, compressed together.

Source: mysql-server, Transaction_payload_event.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import zstandard

from relay.model.event_types import LARGEST_EVENT_BYTES

_END, _SIZE, _COMPRESSION, _UNCOMPRESSED_SIZE = range(4)
_ZSTD: Final = 0
_NONE: Final = 255
_HEADER: Final = struct.Struct("<IBIIIH")
_READ_BYTES: Final = 1 << 18


class PayloadBroken(ValueError):
    """A compressed transaction cannot be decompressed; the text of the error says why."""


class PayloadUnknown(ValueError):
    """A payload has a compression that this relay does not read."""


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class InnerEvent:
    """One event inside a payload. It has no checksum and no offset of its own."""

    type_code: int
    flags: int
    time_s: int
    server_id: int
    body: memoryview


def payload_events(body: memoryview) -> Iterator[InnerEvent]:
    """Yield the events of a payload. They are decompressed one by one, so memory holds only one
    event and the window of the decompression.

    Raises PayloadBroken, or PayloadUnknown for another compression.
    """
    compression, packed = _opened(body)
    if compression == _NONE:
        yield from _events(_Plain(packed))
        return
    if compression != _ZSTD:
        raise PayloadUnknown(f"compression type {compression}")
    reader = zstandard.ZstdDecompressor().stream_reader(
        packed, read_size=_READ_BYTES, read_across_frames=True
    )
    try:
        yield from _events(reader)
    except zstandard.ZstdError as exc:
        raise PayloadBroken(str(exc)) from exc


class _Plain:
    """Reads from a view."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        taken = bytes(self._view[self._at : self._at + size])
        self._at += len(taken)
        return taken


def _events(reader: _Readable) -> Iterator[InnerEvent]:
    while header := _exactly(reader, _HEADER.size, at_end=True):
        time_s, type_code, server_id, size, _, flags = _HEADER.unpack(header)
        if not _HEADER.size <= size <= LARGEST_EVENT_BYTES:
            raise PayloadBroken(f"an event of {size} bytes")
        yield InnerEvent(
            type_code, flags, time_s, server_id, memoryview(_exactly(reader, size - _HEADER.size))
        )


def _exactly(reader: _Readable, size: int, *, at_end: bool = False) -> bytes:
    """Read `size` bytes, or none if the payload may end.

    Announced bytes that do not arrive take no memory.
    """
    parts = []
    missing = size
    while missing and (part := reader.read(min(missing, _READ_BYTES))):
        parts.append(part)
        missing -= len(part)
    if missing and not (at_end and missing == size):
        raise PayloadBroken("it ends inside an event")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _opened(body: memoryview) -> tuple[int, memoryview]:
    """Read the fields before the packed bytes: their compression, and their offset."""
    compression = _NONE
    at = 0
    while True:
        field, at = _packed_number(body, at)
        if field == _END:
            return compression, body[at:]
        length, at = _packed_number(body, at)
        if field == _COMPRESSION:
            compression, _ = _packed_number(body, at)
        elif field not in (_SIZE, _UNCOMPRESSED_SIZE):
            raise PayloadUnknown(f"field {field}")
        at += length


def _packed_number(body: memoryview, at: int) -> tuple[int, int]:
    """A length-encoded integer of the protocol."""
    if at >= len(body):
        raise PayloadBroken("it ends inside its head")
    first = body[at]
    if first < 0xFB:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first)
    if width is None:
        raise PayloadBroken("an invalid length")
    return int.from_bytes(body[at + 1 : at + 1 + width], "little"), at + 1 + width

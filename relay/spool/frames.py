"""Reads and writes frames. A frame is a block of items with its length, its checksum, and the time
at which it was read from the source.

A reader stops at an incomplete frame, and at one that does not match its checksum. It does not read
the rest of the file.
"""

import struct
import zlib
from typing import BinaryIO, Final, NamedTuple

_HEAD: Final = struct.Struct(
    "<IIQB"
)  # bytes of the block, CRC32 of everything after this field, Unix milliseconds, closed
_UNCHECKED_BYTES: Final = 8
LARGEST_BLOCK_BYTES: Final = 2**31
"""Largest length of a block that a reader accepts. A greater length means damage, because an event
of the binlog has at most 1 GiB.
"""


class Frame(NamedTuple):
    """A block of items.

    read_ms  when it was read from the source, in Unix milliseconds
    closed   whether no transaction is open after the last item of the block
    """

    block: bytes
    read_ms: int
    closed: bool

    @property
    def size_bytes(self) -> int:
        """The size in a file, in bytes."""
        return _HEAD.size + len(self.block)


def frame_bytes(frame: Frame) -> bytes:
    """Return the bytes of a frame, with its checksum."""
    unchecked = _HEAD.pack(len(frame.block), 0, frame.read_ms, frame.closed)
    crc = zlib.crc32(frame.block, zlib.crc32(unchecked[_UNCHECKED_BYTES:]))
    return _HEAD.pack(len(frame.block), crc, frame.read_ms, frame.closed) + frame.block


def read_frame(file: BinaryIO) -> Frame | None:
    """Read the next frame; None if it is incomplete or damaged."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size, crc, read_ms, closed = _HEAD.unpack(head)
    if size > LARGEST_BLOCK_BYTES:
        return None
    block = file.read(size)
    if len(block) < size or zlib.crc32(block, zlib.crc32(head[_UNCHECKED_BYTES:])) != crc:
        return None
    return Frame(block, read_ms, bool(closed))

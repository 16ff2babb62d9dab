"""Changes binlog files on the disk of a server: other times, other numbers, flipped bits."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from deploy.embedded import SqlServer

_HEADER: Final = struct.Struct("<IBIIIH")
_MAGIC_BYTES: Final = 4
_CHECKSUM_BYTES: Final = 4
_MYSQL_GTIDS: Final = (33, 34)
_COMMIT_TIME_AT: Final = _HEADER.size + 1 + 16 + 8 + 1 + 8 + 8
_FLAGS_AT: Final = _HEADER.size - 2
_IN_USE: Final = 1


def binlog_path(server: SqlServer, file: str) -> Path:
    return server.data / file


def flip_bit(file: Path, offset: int) -> None:
    content = bytearray(file.read_bytes())
    content[offset] ^= 1
    file.write_bytes(content)


def redate(file: Path, times_s: Iterator[int]) -> None:
    """Give the file's head the first of the times, and each transaction (ended by XID or COMMIT)
    the next; checksums are computed again.
    """
    content = bytearray(file.read_bytes())
    at, time_s, in_head = _MAGIC_BYTES, next(times_s), True
    while at < len(content):
        _, kind, _, size, _, _ = _HEADER.unpack_from(content, at)
        if in_head and kind in (2, 33, 34, 162):  # what a transaction begins with
            in_head, time_s = False, next(times_s)
        _date(content, at, size, kind, time_s)
        if kind == 16:
            in_head = True
        at += size
    file.write_bytes(content)


def renumber(server: SqlServer, old: str, new: str) -> None:
    """Rename a binlog file of a stopped server."""
    index = server.data / "binlog.index"
    lines = index.read_text().split("\n")
    index.write_text("\n".join(line.replace(old, new) for line in lines))
    (server.data / old).rename(server.data / new)


def _date(content: bytearray, at: int, size: int, kind: int, time_s: int) -> None:
    struct.pack_into("<I", content, at, time_s)
    if kind in _MYSQL_GTIDS and size > _COMMIT_TIME_AT + 7 + _CHECKSUM_BYTES:
        content[at + _COMMIT_TIME_AT : at + _COMMIT_TIME_AT + 7] = (time_s * 1_000_000).to_bytes(
            7, "little"
        )
    end = at + size - _CHECKSUM_BYTES
    covered = bytearray(content[at:end])
    covered[_FLAGS_AT] &= ~_IN_USE
    struct.pack_into("<I", content, end, zlib.crc32(covered))

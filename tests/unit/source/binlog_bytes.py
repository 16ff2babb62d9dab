"""Binlog events as bytes, as both families write them, and as the assembler takes them."""

import struct
import zlib
from collections.abc import Iterable

from relay.model import event_types as types
from relay.source.events.binlog_event import BinlogEvent

UUID = bytes(range(16))
UUID_TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"


def event(
    type_code: int,
    body: bytes = b"",
    *,
    log_pos: int = 0,
    flags: int = 0,
    time_s: int = 1000,
    server_id: int = 7,
    checksum: bool = True,
) -> bytes:
    """A whole event; the checksum covers it."""
    size = 19 + len(body) + (4 if checksum else 0)
    whole = struct.pack("<IBIIIH", time_s, type_code, server_id, size, log_pos, flags) + body
    return whole + struct.pack("<I", zlib.crc32(whole)) if checksum else whole


def packet(payload: bytes, number: int = 0) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number % 256]) + payload


def sent(events: Iterable[bytes]) -> bytes:
    """The events as the server sends them in a dump: an OK byte before each."""
    return b"".join(packet(b"\0" + whole, number) for number, whole in enumerate(events))


def rotate(file: str, offset: int = 4, *, artificial: bool = True, log_pos: int = 0) -> bytes:
    flags = types.ARTIFICIAL_FLAG if artificial else 0
    return event(
        types.ROTATE, struct.pack("<Q", offset) + file.encode(), flags=flags, log_pos=log_pos
    )


POST_HEADERS = bytes(
    [
        56,
        13,
        0,
        8,
        0,
        18,
        0,
        4,
        4,
        4,
        4,
        18,
        0,
        0,
        84,
        0,
        4,
        26,
        8,
        0,
        0,
        0,
        8,
        8,
        8,
        2,
        0,
        0,
        0,
        10,
        10,
        10,
        42,
        42,
        0,
        18,
        52,
        0,
        10,
    ]
)
"""Of event types 1 to 39, as servers of both families announce them."""


def description(
    *,
    log_pos: int = 0,
    checksum: bool = True,
    created_s: int = 500,
    flags: int = 0,
    version: str = "11.4.5-MariaDB-log",
    header_bytes: int = 19,
    post_headers: bytes = POST_HEADERS,
    tail: bool = True,
    binlog_version: int = 4,
) -> bytes:
    """A file's first event.

    Releases that know checksums write a `tail`, whether the file's events have them or not.
    """
    body = struct.pack("<H50sIB", binlog_version, version.encode(), 0, header_bytes) + post_headers
    body += bytes([1 if checksum else 0]) if tail else b""
    return event(
        types.FORMAT_DESCRIPTION,
        body,
        log_pos=log_pos,
        time_s=created_s,
        flags=flags,
        checksum=tail,
    )


def query_body(sql: str, database: str = "d", status: bytes = b"") -> bytes:
    name = database.encode()
    return (
        struct.pack("<IIBHH", 1, 0, len(name), 0, len(status))
        + status
        + name
        + b"\0"
        + sql.encode()
    )


def table_map_body(number: int) -> bytes:
    return number.to_bytes(6, "little") + b"\1\0" + b"\1d\0\1t\0" + b"\1\3\0\0"


def rows_body(number: int, row: bytes = b"\1") -> bytes:
    return number.to_bytes(6, "little") + b"\1\0" + b"\1\xff" + row


def mariadb_gtid_body(sequence: int, flags: int = 0, domain: int = 0, tail: bytes = b"") -> bytes:
    return struct.pack("<QIB", sequence, domain, flags) + tail


def mysql_gtid_body(number: int, commit_us: int = 0) -> bytes:
    return struct.pack("<B16sQBQQ", 1, UUID, number, 2, 0, 1) + (commit_us | 1 << 55).to_bytes(
        7, "little"
    )


class Feed:
    """Numbers events as a file does, 100 bytes each, and hands them to an assembler."""

    def __init__(self) -> None:
        self.offset = 4

    def __call__(
        self, type_code: int, body: bytes = b"", *, flags: int = 0, time_s: int = 1000
    ) -> BinlogEvent:
        start = self.offset
        self.offset += 100
        return BinlogEvent(type_code, flags, time_s, 7, start, self.offset, memoryview(body))

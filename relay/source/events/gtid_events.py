"""Parses the events that give transactions their GTIDs, of MySQL and MariaDB.

Sources: mysql-server, control_events.h and mysql::serialization; MariaDB, GTID_EVENT.
"""

import struct
import uuid
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from relay.model.event_types import Body
from relay.model.positions.gtid import GtidSet, TransactionSource
from relay.source.events.xa import xid

_MYSQL_HEAD: Final = struct.Struct("<B16sQ")
_COMMIT_TIME_AT: Final = _MYSQL_HEAD.size + 1 + 8 + 8
_COMMIT_TIME_MASK: Final = (
    1 << 55
) - 1  # the topmost bit says that the original commit time follows

_LIST_COUNT_MASK: Final = (1 << 28) - 1  # the upper four bits are flags
_MARIADB_HEAD: Final = struct.Struct("<QIB")
_XID_HEAD: Final = struct.Struct("<IBB")
MARIADB_STANDALONE: Final = 0x01
_MARIADB_GROUP_COMMIT: Final = 0x02
MARIADB_PREPARED_XA: Final = 0x40
MARIADB_COMPLETED_XA: Final = 0x80
_MARIADB_START_ALTER: Final = 0x02
_MARIADB_ROLLBACK_ALTER: Final = 0x08

# Field numbers of the tagged event; those of variable length are read by their form, not by their
# meaning.
_FLAGS, _UUID, _NUMBER, _TAG, _LAST_COMMITTED, _SEQUENCE, _COMMIT_TIME = range(7)


@dataclass(frozen=True, slots=True)
class MariadbGtid:
    """Fields of MariaDB's GTID event.

    `text` is the GTID, and `flags` are those of the event. `halved_alter`: the event begins or
    rolls back a two-phase ALTER, and the table is not changed. `xid`: the XA transaction to which
    the following events belong, "" if they belong to none.
    """

    text: str
    flags: int
    halved_alter: bool
    xid: str = ""


def mysql_gtid(body: Body) -> tuple[str, int | None]:
    """Return the text of a GTID or ANONYMOUS_GTID event, and the immediate commit time in
    milliseconds.

    The time is None on servers before 8.0, which do not write it.
    """
    _, source, number = _MYSQL_HEAD.unpack_from(body)
    text = f"{_uuid_text(source)}:{number}"
    if len(body) < _COMMIT_TIME_AT + 7:
        return text, None
    commit_us = (
        int.from_bytes(body[_COMMIT_TIME_AT : _COMMIT_TIME_AT + 7], "little") & _COMMIT_TIME_MASK
    )
    return text, commit_us // 1000 or None


def tagged_gtid(body: Body) -> tuple[str, int | None]:
    """Return the text of a GTID_TAGGED event (MySQL 8.3+) with its tag, and the immediate commit
    time in milliseconds, None without one.
    """
    at = 0
    for _ in range(3):  # format version, size, the last field that a reader must know
        _, at = _unsigned(body, at)
    source, tag, number, commit_us = b"", "", 0, 0
    while at < len(body) and not commit_us:  # what follows the commit time is not needed
        field, at = _unsigned(body, at)
        if field == _UUID:
            source, at = _octets(body, at)
        elif field == _TAG:
            length, at = _unsigned(body, at)
            tag, at = bytes(body[at : at + length]).decode("ascii"), at + length
        elif field == _NUMBER:
            signed, at = _unsigned(body, at)
            number = signed >> 1  # the lowest bit is the sign
        else:
            value, at = _unsigned(body, at)
            commit_us = value if field == _COMMIT_TIME else 0
    tagged = f":{tag}" if tag else ""
    return f"{_uuid_text(source)}{tagged}:{number}", commit_us // 1000 or None


def mariadb_gtid(body: Body, server_id: int) -> MariadbGtid:
    """Return the fields of MariaDB's GTID event. `server_id` is that in the event's header."""
    sequence, domain, flags = _MARIADB_HEAD.unpack_from(body)
    at = _MARIADB_HEAD.size
    if flags & _MARIADB_GROUP_COMMIT:
        at += 8
    name = ""
    if flags & (MARIADB_PREPARED_XA | MARIADB_COMPLETED_XA):
        format_id, gtrid_bytes, bqual_bytes = _XID_HEAD.unpack_from(body, at)
        at += _XID_HEAD.size
        gtrid, bqual = (
            bytes(body[at : at + gtrid_bytes]),
            bytes(body[at + gtrid_bytes : at + gtrid_bytes + bqual_bytes]),
        )
        name = xid(gtrid, bqual, format_id)
        at += gtrid_bytes + bqual_bytes
    extra = body[at] if at < len(body) else 0
    return MariadbGtid(
        f"{domain}-{server_id}-{sequence}",
        flags,
        bool(extra & (_MARIADB_START_ALTER | _MARIADB_ROLLBACK_ALTER)),
        name,
    )


def previous_gtids(body: Body) -> GtidSet:
    """Return the GTID set of a PREVIOUS_GTIDS event: all transactions of earlier binlog files."""
    (count,) = struct.unpack_from("<Q", body)
    tagged = bool(count >> 56)
    if tagged:
        count = count >> 8 & (1 << 48) - 1
    at = 8
    intervals: dict[TransactionSource, tuple[tuple[int, int], ...]] = {}
    for _ in range(count):
        source, tag, at = _uuid_text(bytes(body[at : at + 16])), "", at + 16
        if tagged:
            length, at = _unsigned(body, at)
            tag, at = bytes(body[at : at + length]).decode("ascii"), at + length
        (pairs,) = struct.unpack_from("<Q", body, at)
        bounds = struct.unpack_from(f"<{2 * pairs}Q", body, at + 8)
        at += 8 + 16 * pairs
        intervals[TransactionSource(source, tag)] = tuple(
            (low, high - 1) for low, high in zip(bounds[::2], bounds[1::2], strict=True)
        )
    return GtidSet(intervals)


def gtid_list(body: Body) -> dict[tuple[int, int], int]:
    """Return the content of MariaDB's GTID_LIST event: (domain, server_id) → newest number before
    its binlog file.
    """
    (count,) = struct.unpack_from("<I", body)
    entries = (
        struct.unpack_from("<IIQ", body, 4 + 16 * index)
        for index in range(count & _LIST_COUNT_MASK)
    )
    return {(domain, server): number for domain, server, number in entries}


@lru_cache(maxsize=64)
def _uuid_text(source: bytes) -> str:
    """Cached, because nearly all transactions of a binlog come from a few servers."""
    return str(uuid.UUID(bytes=source))


def _octets(body: Body, at: int) -> tuple[bytes, int]:
    """Return the uuid of a tagged event, which has each of the 16 bytes as a number."""
    octets = bytearray()
    for _ in range(16):
        octet, at = _unsigned(body, at)
        octets.append(octet)
    return bytes(octets), at


def _unsigned(body: Body, at: int) -> tuple[int, int]:
    """Read a number of 1 to 9 bytes: the one bits at the low end of the first byte count the bytes
    that follow.
    """
    first = body[at]
    more = (~first & (first + 1)).bit_length() - 1
    value = int.from_bytes(body[at : at + 1 + more], "little")
    return (value >> (more + 1) if more < 8 else value >> 8), at + 1 + more

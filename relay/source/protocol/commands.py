"""Builds the packets of the replication commands. Source: MySQL manual, Replication Protocol."""

import struct
import uuid
from typing import Final

from relay.model.positions.gtid import GtidSet

_REGISTER_REPLICA: Final = 0x15
_BINLOG_DUMP: Final = 0x12
_BINLOG_DUMP_GTID: Final = 0x1E
SEND_ANNOTATE_ROWS: Final = 0x02
_THROUGH_GTID: Final = 0x04
_FIRST_OFFSET: Final = 4
_TAGGED_FORMAT: Final = 1

REPORTED_HOST: Final = "roma-relay"
"""The host name of the relay in `SHOW REPLICAS`, by which relays recognise each other."""


def replica_uuid(server_id: int) -> str:
    """Return the uuid under which the relay registers as a replica. It depends only on the
    server_id. MySQL ends a former dump with the same uuid, so a dump that the relay abandoned does
    not remain.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{REPORTED_HOST}/{server_id}"))


def register_replica(server_id: int) -> bytes:
    """Return the packet of COM_REGISTER_SLAVE, which lists the relay as a replica. It needs
    REPLICATION SLAVE.
    """
    host = REPORTED_HOST.encode()
    body = (
        struct.pack("<BIB", _REGISTER_REPLICA, server_id, len(host))
        + host
        + struct.pack("<BBHII", 0, 0, 0, 0, 0)
    )
    return _packet(body)


def binlog_dump(file: str, offset: int, server_id: int, flags: int = 0) -> bytes:
    """Return the packet of COM_BINLOG_DUMP, which requests the binlog from a file and an offset.

    MariaDB ignores both if the session has a GTID state.
    """
    return _packet(struct.pack("<BIHI", _BINLOG_DUMP, offset, flags, server_id) + file.encode())


def binlog_dump_gtid(published: GtidSet, server_id: int) -> bytes:
    """Return the packet of COM_BINLOG_DUMP_GTID (MySQL), which requests all transactions that are
    not in the set.
    """
    body = encoded_gtid_set(published)
    head = struct.pack(
        "<BHIIQI", _BINLOG_DUMP_GTID, _THROUGH_GTID, server_id, 0, _FIRST_OFFSET, len(body)
    )
    return _packet(head + body)


def encoded_gtid_set(published: GtidSet) -> bytes:
    """Return MySQL's binary form of a GTID set.

    The form with tags has another count field. Source: mysql-server, rpl_gtid_set.cc.
    """
    tagged = any(source.tag for source in published.intervals)
    count = len(published.intervals)
    parts = [
        struct.pack("<Q", _TAGGED_FORMAT << 56 | count << 8 | _TAGGED_FORMAT if tagged else count)
    ]
    for source in sorted(published.intervals):
        intervals = published.intervals[source]
        parts.append(uuid.UUID(source.uuid).bytes)
        if tagged:
            parts.append(bytes([len(source.tag) << 1]) + source.tag.encode())
        parts.append(struct.pack("<Q", len(intervals)))
        parts.extend(struct.pack("<QQ", first, last + 1) for first, last in intervals)
    return b"".join(parts)


def _packet(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body

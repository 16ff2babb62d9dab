"""The first event of a binlog file: which release wrote it, whether its events have checksums, and
how long their headers are.

Layout: binlog version (2 bytes), server version (50), time (4), size of the common header (1), and
for each event type from 1 on the size of its post-header (1 each). Releases with checksums add one
byte for the algorithm and four for the checksum of this event. Sources: MySQL internals,
Format_description_event; MariaDB, log_event.cc. The lengths below are those of MySQL 5.5 to 9.7 and
MariaDB 10.1 to 11.8.
"""

import re
import struct
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from relay.errors import UnsupportedEvent
from relay.model import event_types as types
from relay.model.event_types import Body

_HEAD: Final = struct.Struct("<H50sIB")
_TAIL_BYTES: Final = 5
_CRC32: Final = 1
_BINLOG_VERSION: Final = 4
_HEADER_BYTES: Final = 19
_VERSION: Final = re.compile(rb"(\d+)\.(\d+)\.(\d+)")
_FIRST_WITH_CHECKSUMS: Final = (5, 6, 1)
_MARIADB_FIRST_WITH_CHECKSUMS: Final = (5, 3, 0)
_TRIAL_ROWS: Final = ((5, 1, 0), (5, 1, 24))
"""MySQL 5.1 before its row events had their final form."""

_NOT_WRITTEN: Final = 0
_KNOWN: Final[Mapping[int, Collection[int]]] = {
    types.QUERY: (13,),
    types.ROTATE: (8,),
    types.TABLE_MAP: (8, _NOT_WRITTEN),
    **dict.fromkeys(
        (types.WRITE_ROWS_V1, types.UPDATE_ROWS_V1, types.DELETE_ROWS_V1), (8, _NOT_WRITTEN)
    ),
    **dict.fromkeys(
        (types.WRITE_ROWS, types.UPDATE_ROWS, types.DELETE_ROWS, types.PARTIAL_UPDATE_ROWS),
        (10, _NOT_WRITTEN),
    ),
    types.XID: (0,),
    types.GTID: (25, 42, _NOT_WRITTEN),  # MySQL 5.6; 5.7 and later
    types.ANONYMOUS_GTID: (25, 42, _NOT_WRITTEN),
    types.XA_PREPARE: (0,),
    types.MARIADB_GTID: (19, _NOT_WRITTEN),
    types.MARIADB_GTID_LIST: (4, _NOT_WRITTEN),
    types.MARIADB_QUERY_COMPRESSED: (13, _NOT_WRITTEN),
    **dict.fromkeys(types.MARIADB_COMPRESSED_ROWS_V1, (8, _NOT_WRITTEN)),
    **dict.fromkeys(types.MARIADB_COMPRESSED_ROWS, (10, _NOT_WRITTEN)),
}
"""The lengths that the relay can read, of each type whose post-header it reads.

A type above the last one announced is not written.
"""

_FORK_REMEDY: Final = (
    "Let a server of MySQL or MariaDB replicate from this one with log_replica_updates=ON "
    "(log_slave_updates), and read that server."
)
_OLD_REMEDY: Final = (
    "Start from a binlog file that a later release wrote, and make a new first copy."
)


class FormatDescription(NamedTuple):
    """The content of a format description event. `version` is the server's own text.

    `header_bytes` is the size of the common header. `has_tail`: this event ends with the checksum
    algorithm and a checksum. `checksummed`: all other events of the file end with a checksum.
    """

    version: str
    has_tail: bool
    checksummed: bool
    header_bytes: int
    post_header_bytes: bytes
    """One byte for each event type; that of type 1 is at index 0."""
    binlog_version: int


def read_description(body: Body) -> FormatDescription:
    """Return the content of the event. `body` is the event without its common header, but with the
    checksum at its end.

    Raises struct.error if the event is cut short.
    """
    binlog_version, text, _, header_bytes = _HEAD.unpack_from(body)
    version = bytes(text).split(b"\0", 1)[0]
    has_tail = _knows_checksums(version)
    if has_tail and len(body) < _HEAD.size + _TAIL_BYTES:
        raise struct.error("the description ends before its checksum")
    return FormatDescription(
        version.decode("utf-8", "replace"),
        has_tail,
        has_tail and body[-_TAIL_BYTES] == _CRC32,
        header_bytes,
        bytes(body[_HEAD.size : -_TAIL_BYTES if has_tail else None]),
        binlog_version,
    )


def check_description(found: FormatDescription, file: str) -> None:
    """Check that the events of the file have the form that the relay reads.

    Raises UnsupportedEvent.
    """
    if found.binlog_version != _BINLOG_VERSION:
        raise old_format(
            file,
            (
                f"has binlog format {found.binlog_version}, and this relay reads only format "
                f"{_BINLOG_VERSION}"
            ),
        )
    earliest, final = _TRIAL_ROWS
    if earliest <= _numbers(found.version.encode()) < final:
        raise old_format(
            file,
            (
                f"is of MySQL {found.version}, whose row events have another form than those of "
                "MySQL 5.1.24 and later"
            ),
        )
    if found.header_bytes != _HEADER_BYTES:
        raise _foreign(
            file,
            found,
            (
                f"headers of {found.header_bytes} bytes for all events; this relay reads only "
                f"{_HEADER_BYTES} bytes"
            ),
        )
    _check_post_headers(found, file)


def _check_post_headers(found: FormatDescription, file: str) -> None:
    for code, announced in enumerate(found.post_header_bytes, 1):
        known = _KNOWN.get(code, (announced,))
        if announced not in known:
            expected = " or ".join(str(each) for each in known if each or known == (0,))
            raise _foreign(
                file,
                found,
                (
                    f"post-headers of {announced} bytes for events of type {code}; this relay "
                    f"reads only {expected} bytes"
                ),
            )


def old_format(file: str, what: str) -> UnsupportedEvent:
    """Return the error for a file of a release before MySQL 5.1. `what` follows the name of the
    file in the text.
    """
    return UnsupportedEvent(
        f"The binlog file {file} {what}: its changes are not supported.", remedy=_OLD_REMEDY
    )


def _foreign(file: str, found: FormatDescription, what: str) -> UnsupportedEvent:
    return UnsupportedEvent(
        f"The server that wrote the binlog file {file} ({found.version}) announces {what}.",
        remedy=_FORK_REMEDY,
    )


def _knows_checksums(version: bytes) -> bool:
    first = (
        _MARIADB_FIRST_WITH_CHECKSUMS if b"mariadb" in version.lower() else _FIRST_WITH_CHECKSUMS
    )
    return _numbers(version) >= first


def _numbers(version: bytes) -> tuple[int, int, int]:
    """Return the three numbers of a version; of a text without them those of a release to come."""
    found = _VERSION.match(version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else (99, 0, 0)

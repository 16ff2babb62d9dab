"""Finds begin, end and commit time of the transactions of a binlog file, without reading rows. The
module does no I/O.
"""

from typing import Final, NamedTuple

from relay.model import event_types as types
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.gtid_events import (
    MARIADB_STANDALONE,
    mariadb_gtid,
    mysql_gtid,
    tagged_gtid,
)
from relay.source.events.query_event import Meaning, QueryEvent, read_query

_MILLISECONDS: Final = 1000
_MYSQL_GTIDS: Final = (types.GTID, types.ANONYMOUS_GTID)
_ENDS: Final = (types.XID, types.XA_PREPARE, types.TRANSACTION_PAYLOAD)
_QUERIES: Final = (types.QUERY, types.MARIADB_QUERY_COMPRESSED)
_CLOSING: Final = (Meaning.COMMIT, Meaning.ROLLBACK)
_INSIDE: Final = (Meaning.SAVEPOINT, Meaning.ROLLBACK_TO, Meaning.RELEASE, Meaning.UNREADABLE)
_XA_INSIDE: Final = (b"XA START", b"XA BEGIN", b"XA END")


class Bounds(NamedTuple):
    """One transaction of a file: the offset of its first byte, the offset after its last byte, and
    the latest possible commit time (ms).
    """

    start: int
    end: int
    latest_ms: int


class TransactionBorders:
    """Reads the events of a file in their order, and returns each transaction that is complete."""

    def __init__(self) -> None:
        self._start: int | None = None
        self._stays_open = False
        self._commit_ms: int | None = None
        self._latest_s = 0

    @property
    def inside(self) -> bool:
        """Return whether a transaction is open."""
        return self._start is not None

    def feed(self, event: BinlogEvent) -> Bounds | None:
        """Return the bounds of the transaction that the event ends; None if it ends none."""
        if event.type_code in _MYSQL_GTIDS:
            self._open(event, mysql_gtid(event.body)[1], stays_open=False)
        elif event.type_code == types.GTID_TAGGED:
            self._open(event, tagged_gtid(event.body)[1], stays_open=False)
        elif event.type_code == types.MARIADB_GTID:
            flags = mariadb_gtid(event.body, event.server_id).flags
            self._open(event, None, stays_open=not flags & MARIADB_STANDALONE)
        elif event.type_code in _QUERIES:
            query = read_query(
                event.body, compressed=event.type_code == types.MARIADB_QUERY_COMPRESSED
            )
            return self._closed(event) if self._is_ended_by(event, query) else None
        elif event.type_code in _ENDS and self._start is not None:
            return self._closed(event)
        return None

    def _open(self, event: BinlogEvent, commit_ms: int | None, *, stays_open: bool) -> None:
        """Begin a transaction and drop an unfinished one before it."""
        self._start, self._stays_open, self._commit_ms, self._latest_s = (
            event.start,
            stays_open,
            commit_ms,
            event.time_s,
        )

    def _is_ended_by(self, event: BinlogEvent, query: QueryEvent) -> bool:
        if self._start is None:
            if query.meaning in _CLOSING or query.meaning in _INSIDE:
                return False  # reading began inside a transaction
            self._open(event, None, stays_open=query.meaning is Meaning.BEGIN)
            return not self._stays_open
        if query.meaning is Meaning.XA:
            self._stays_open = query.sql.lstrip().upper().startswith(_XA_INSIDE)
        elif query.meaning in (Meaning.BEGIN, Meaning.ATOMIC_CREATE):
            self._stays_open = True
        elif query.meaning in _CLOSING:
            return True
        return not self._stays_open and query.meaning not in _INSIDE

    def _closed(self, event: BinlogEvent) -> Bounds:
        """Return the bounds.

        A commit time of the server is exact. A header has whole seconds, so the end of that second
        is used.
        """
        start = event.start if self._start is None else self._start
        latest_ms = (
            (max(self._latest_s, event.time_s) + 1) * _MILLISECONDS - 1
            if self._commit_ms is None
            else self._commit_ms
        )
        self._start = None
        return Bounds(start, event.end, latest_ms)

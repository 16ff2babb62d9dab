"""Reads chunks of a table while the stream continues, each between two watermarks (ADR 60).

A server writes a transaction to its binlog, then shows it to SELECTs, then adds it to
gtid_executed. So SELECTs show a published transaction as soon as gtid_executed contains it: this is
the check of the low watermark. Every transaction that a chunk shows is already in the binlog: the
high watermark is the end of the binlog after the chunk was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

import pymysql

from relay.errors import SnapshotRefused, SourceUnreachable
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.model.source_rows.sessions import AND_SEE_ALL, AND_SORT_WHOLE_KEYS
from relay.settings import SourceSettings
from relay.source.positions.resume import binlog_end
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.row_packets import Cells
from relay.source.protocol.server_facts import ServerFacts, read_server_facts
from relay.source.protocol.visibility import gtids_at, shown_by_snapshot, wait_until

LOW_SECONDS: Final = 5.0
"""SELECTs on the source may show a transaction only after it was published. For this many seconds a
chunk's read waits for that, before it returns without rows.
"""
LOAD_SECONDS: Final = 1.0
"""After this many seconds the load of the source is queried again."""
_SESSION: Final = (
    "SET SESSION time_zone = '+00:00', character_set_results = NULL",
    f"SET SESSION sql_mode = 'ALLOW_INVALID_DATES'{AND_SEE_ALL}{AND_SORT_WHOLE_KEYS}",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
)
"""Without ALLOW_INVALID_DATES MySQL refuses to compare with 2024-02-31, which keys may have."""
_STATEMENT_REFUSED: Final = frozenset({1052, 1054, 1064, 1109, 1111, 1146, 1247, 1267, 1305, 1690})
"""The errors of a wrong condition, or of a table that differs from its description (server error
reference).
"""


@dataclass(frozen=True, slots=True)
class Low:
    """The low watermark: the transactions that SELECTs must show before a chunk is read.

    server    the server from which the stream is read (`SourceIdentity.server`)
    gtid_set  on MySQL, all transactions that SELECTs must show
    begin     on MariaDB, where the last of these transactions begins; None: not known, so SELECTs
              must show all transactions up to `end`
    end       the position up to which the instance has published
    """

    server: str
    gtid_set: str
    begin: BinlogPosition | None
    end: BinlogPosition


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """Rows of one consistent snapshot, and where the binlog ended after they were read (`high`).

    `until` is the key up to which the table was searched, as the texts of its columns; () means the
    end of the table.
    """

    rows: Sequence[Cells]
    high: BinlogPosition
    until: tuple[str, ...] = ()


class ChunkConnection:
    """A connection for reading chunks. One thread uses and closes it; any thread may call `cut`."""

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._connection: SourceConnection | None = None
        self._server: ServerFacts | None = None
        self._shows_gtids = False
        self._load: tuple[float, int] | None = None

    def close(self) -> None:
        """Close the connection. The next query opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._server = self._load = None
            self._shows_gtids = False

    def cut(self) -> None:
        """Abort a running query. Any thread may call it."""
        connection = self._connection
        if connection is not None:
            connection.cut()

    def server(self) -> ServerFacts:
        """Return the facts of the server. Raises Unreachable, and SnapshotRefused if the server has
        no GTIDs.
        """
        server = read_server_facts(self._opened()) if self._server is None else self._server
        self._server = server
        if not server.has_gtids:
            raise SnapshotRefused(
                "Without GTIDs, MySQL does not report which transactions a SELECT includes.",
                remedy="Set gtid_mode = ON on the source, or copy the table with Spark.",
            )
        return server

    def rows(self, sql: str, *arguments: str) -> Sequence[tuple[object, ...]]:
        """Return all rows of a query about the catalogue, with `arguments` for its placeholders.
        Raises Unreachable.
        """
        return self._opened().rows(sql, *arguments)

    def threads_running(self) -> int:
        """Return how many threads of the source are active, including the one of this connection;
        the value may be LOAD_SECONDS old.

        Raises Unreachable.
        """
        now_s = monotonic()
        if self._load is None or now_s - self._load[0] >= LOAD_SECONDS:
            [(_, number)] = self._opened().rows("SHOW GLOBAL STATUS LIKE 'Threads_running'")
            self._load = now_s, int(number)
        return self._load[1]

    def read(self, low: Low, select: str) -> ReadChunk | None:
        """Return the rows of a SELECT in a snapshot that shows the low watermark; None if SELECTs
        do not show it yet.

        Raises Unreachable (also if another server than that of the stream answers) and
        SourceNotPermitted.
        """
        server, connection = self.server(), self._opened()
        check_is_of_stream(server, low, connection.address)
        if not server.mariadb and not wait_until(lambda: self._executed(low), LOW_SECONDS):
            return None
        if server.mariadb and not wait_until(lambda: self._snapshot_shows(low), LOW_SECONDS):
            return None
        if not server.mariadb:
            connection.rows("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        try:
            rows = connection.raw_rows(select)
        except SourceUnreachable as exc:
            if _number(exc) in _STATEMENT_REFUSED:
                connection.rows("ROLLBACK")
                raise SnapshotRefused(exc.reason) from exc
            raise
        connection.rows("COMMIT")
        return ReadChunk(rows, binlog_end(connection, server))

    def _executed(self, low: Low) -> bool:
        answer = self._opened().rows("SELECT GTID_SUBSET(%s, @@GLOBAL.gtid_executed)", low.gtid_set)
        return bool(answer[0][0])

    def _snapshot_shows(self, low: Low) -> bool:
        """Open a snapshot; it stays open if it shows the low watermark.

        After a switch of the source, published transactions can be after the position where reading
        began, so their GTIDs must be shown too. Later transactions on the same server are before
        `low.begin`, and a server answers for GTIDs by reading a file.
        """
        connection = self._opened()
        shown = shown_by_snapshot(connection)
        if shows_position(low, shown):
            if low.begin is None or not self._shows_gtids:
                self._shows_gtids = shows_gtids(low, gtids_at(connection, shown))
            if self._shows_gtids:
                return True
        connection.rows("COMMIT")
        return False

    def _opened(self) -> SourceConnection:
        if self._connection is None:
            connection = SourceConnection(self._settings)
            try:
                for statement in _SESSION:
                    connection.rows(statement)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def check_is_of_stream(server: ServerFacts, low: Low, address: str) -> None:
    """Raise SourceUnreachable if the server is not the one that the stream is read from. `address`
    is host:port, for the error.
    """
    found = server.server_uuid or str(server.server_id)
    if found != low.server:
        raise SourceUnreachable(
            f"The server at {address} is {found}, but the instance's stream is read from the "
            f"server {low.server}."
        )


def shows_position(low: Low, shown: BinlogPosition) -> bool:
    """Return whether a MariaDB snapshot that ends at the position `shown` includes the low
    watermark.
    """
    if low.begin is not None:
        return low.begin.rank < shown.rank
    return low.end.rank <= shown.rank


def shows_gtids(low: Low, shown: str | None) -> bool:
    """Return whether a MariaDB snapshot includes all transactions of the low watermark.

    `shown` are the GTIDs of the snapshot, None if the server does not report them.
    """
    return shown is not None and GtidSet.parse(shown).contains(low.gtid_set)


def _number(exc: Exception) -> int:
    """Return the server's number of the error that another one was raised from, 0 without one."""
    cause = exc.__cause__
    found = cause.args[0] if isinstance(cause, pymysql.MySQLError) and cause.args else 0
    return found if isinstance(found, int) else 0

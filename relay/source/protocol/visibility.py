"""Checks whether SELECTs on a source show a transaction that is already in its binlog.

A server logs a transaction before it commits it for other sessions. With semi-synchronous
replication in the mode AFTER_SYNC (MySQL's default) the commit can be seconds later, because the
server first waits for a replica's acknowledgement. MariaDB reports the binlog position of a
consistent snapshot (MariaDB manual: START TRANSACTION, binlog_snapshot_position). MySQL reports
gtid_executed, to which it adds a transaction after its commit. MySQL without GTIDs reports nothing.
"""

from collections.abc import Callable
from threading import Event
from typing import Final

from relay.deadline import Deadline
from relay.errors import SourceUnreachable
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.settings import SourceSettings
from relay.source.protocol.connection import SourceConnection

VISIBLE_SECONDS: Final = 2.0
"""An open Kafka transaction waits no longer than this; the caller tries again."""
_FIRST_PAUSE_SECONDS: Final = 0.002
_LONGEST_PAUSE_SECONDS: Final = 0.1
_SNAPSHOT: Final = (
    "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.SESSION_STATUS "
    "WHERE VARIABLE_NAME IN ('BINLOG_SNAPSHOT_FILE', 'BINLOG_SNAPSHOT_POSITION')"
)


class Visibility:
    """Finds out over its own connection which transactions SELECTs on one source show. One thread
    uses and closes it.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._settings = settings
        self._connection: SourceConnection | None = None
        self._mariadb = False
        self._shown_to: BinlogPosition | None = None
        self._executed = GtidSet.parse("")

    def close(self) -> None:
        """Close the connection. The next query opens another one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def wait_for(self, begin: BinlogPosition, gtid: str, seconds: float = VISIBLE_SECONDS) -> bool:
        """Wait until SELECTs show the transaction that begins at `begin`; return whether they do in
        `seconds` seconds.

        `gtid` is the transaction's GTID, or a set of several GTIDs; "" if it has none. Without a
        GTID, MySQL does not report whether SELECTs show the transaction, and True is returned at
        once. Raises Unreachable.
        """
        return wait_until(lambda: self._known(begin, gtid) or self._shows(begin, gtid), seconds)

    def _known(self, begin: BinlogPosition, gtid: str) -> bool:
        """Return whether an earlier answer already shows the transaction."""
        if self._shown_to is not None:
            return begin.rank < self._shown_to.rank
        return bool(gtid) and self._executed.contains(gtid)

    def _shows(self, begin: BinlogPosition, gtid: str) -> bool:
        try:
            return self._asked(begin, gtid)
        except SourceUnreachable:
            self.close()  # the server may have hung up meanwhile: once more over a new connection
            return self._asked(begin, gtid)

    def _asked(self, begin: BinlogPosition, gtid: str) -> bool:
        if self._connection is None:
            self._connection = SourceConnection(self._settings)
            self._mariadb = (
                "mariadb" in str(self._connection.rows("SELECT VERSION()")[0][0]).lower()
            )
        if self._mariadb:
            self._shown_to = _shown_by_mariadb(self._connection)
        elif gtid:
            self._executed = GtidSet.parse(
                str(self._connection.rows("SELECT @@GLOBAL.gtid_executed")[0][0])
            )
        else:
            return True
        return self._known(begin, gtid)


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Call `holds` with growing pauses until it returns True; return False if it does not in
    `seconds` seconds.
    """
    deadline, pause_s, pause = Deadline.after(seconds), _FIRST_PAUSE_SECONDS, Event()
    while not holds():
        if deadline.passed:
            return False
        pause.wait(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_SECONDS)
    return True


def shown_by_snapshot(connection: SourceConnection) -> BinlogPosition:
    """Open a snapshot on MariaDB, and return the end of the last transaction that it shows."""
    connection.rows("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    found = {str(name).upper(): value for name, value in connection.rows(_SNAPSHOT)}
    return BinlogPosition(
        str(found["BINLOG_SNAPSHOT_FILE"]), int(found["BINLOG_SNAPSHOT_POSITION"])
    )


def gtids_at(connection: SourceConnection, at: BinlogPosition) -> str | None:
    """Return the last GTID of each domain before a position of MariaDB's binlog; None if the server
    does not report it.
    """
    answer = connection.rows("SELECT BINLOG_GTID_POS(%s, %s)", at.file, at.offset)[0][0]
    return None if answer is None else str(answer)


def _shown_by_mariadb(connection: SourceConnection) -> BinlogPosition:
    """Return the end of the last transaction that a snapshot of this moment holds."""
    try:
        return shown_by_snapshot(connection)
    finally:
        connection.rows("COMMIT")

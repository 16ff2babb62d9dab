"""Where reading goes on: a saved position, held against the server's history before a row is read."""

from typing import Final

from relay.errors import (
    BinlogPurged,
    ConfigurationError,
    HistoryChanged,
    SourceLostTransactions,
    SourceSettingsRefused,
)
from relay.model.gtid import GtidSet
from relay.model.position import BinlogPosition, SourceIdentity, SourcePosition, file_number
from relay.settings import SourceSettings
from relay.source.connection import SourceConnection
from relay.source.probe import file_created_s, mysql_gtids_before
from relay.source.server_facts import ServerFacts

_START_REMEDY: Final = "Set start.journal_name and start.position to the beginning of a transaction that the source still has."


def resumed(
    connection: SourceConnection, settings: SourceSettings, server: ServerFacts, saved: SourcePosition
) -> tuple[SourcePosition, bool]:
    """The saved position, checked against the server's history; the second value says whether to start by GTID.

    Raises HistoryChanged, SourceLostTransactions or BinlogPurged before a row is read.
    """
    _check_server(server, saved)
    by_gtid = settings.gtid and server.has_gtids and bool(saved.gtid_set)
    # The file first: after a RESET the GTIDs are missing too, but not because they were lost.
    files = binlog_files(connection)
    known = _check_file(settings, server, files, saved, by_gtid=by_gtid)
    if by_gtid:
        _check_gtids(server, saved)
    if by_gtid or not (settings.gtid and server.has_gtids):
        return saved, by_gtid
    return completed(connection, settings, server, saved.binlog) if known else saved, False


def check_place(connection: SourceConnection, settings: SourceSettings, server: ServerFacts, at: SourcePosition) -> None:
    """Make sure that the server still has the file and the offset. Raises HistoryChanged, SourceLostTransactions or BinlogPurged."""
    _check_server(server, at)
    _check_file(settings, server, binlog_files(connection), at, by_gtid=False)


def binlog_files(connection: SourceConnection) -> dict[str, int]:
    """The binlog files that the server still has, oldest first, with their sizes in bytes."""
    files = {str(row[0]): int(row[1]) for row in connection.rows("SHOW BINARY LOGS")}
    if not files:
        raise SourceSettingsRefused(f"The source at {connection.place} has no binlog.")
    return files


def _check_server(server: ServerFacts, saved: SourcePosition) -> None:
    expected, found = (saved.identity.server_uuid, server.server_uuid) if saved.identity.server_uuid else ("", "")
    if expected != found:
        raise HistoryChanged(f"The position belongs to the server {expected}, and {found or 'one without a uuid'} answers.")
    if not expected and saved.identity.server_id != server.server_id:
        raise HistoryChanged(f"The position belongs to the server of server_id {saved.identity.server_id}, and {server.server_id} answers.")


def _check_gtids(server: ServerFacts, saved: SourcePosition) -> None:
    published, executed = GtidSet.parse(saved.gtid_set), GtidSet.parse(server.executed)
    missing = published.without(executed)
    if not missing.empty:
        raise SourceLostTransactions(f"The source does not have {missing}, which was published before; it has {executed}.")
    if server.mariadb:
        return
    gone = GtidSet.parse(server.purged).without(published)
    if not gone.empty:
        raise BinlogPurged(f"The source no longer has the binlog of {gone}, which was not published yet.")


def _check_file(settings: SourceSettings, server: ServerFacts, files: dict[str, int], saved: SourcePosition, *, by_gtid: bool) -> bool:
    """Whether the position's file is still there; if so, it must be the same incarnation and long enough."""
    at = saved.binlog
    if at.file not in files:
        newest, oldest = next(reversed(files)), next(iter(files))
        if file_number(at.file) > file_number(newest) or _stem(at.file) != _stem(newest):
            raise HistoryChanged(f"The position lies in {at.file}; the newest binlog file of the source is {newest}.")
        if by_gtid:
            return False
        raise BinlogPurged(f"The position lies in {at.file}; the oldest binlog file of the source is {oldest}.")
    created_s = file_created_s(settings, server, at.file)
    if saved.identity.file_created_s and created_s != saved.identity.file_created_s:
        raise HistoryChanged(
            f"{at.file} of the source was made at {created_s} (Unix seconds), the position's {at.file} at {saved.identity.file_created_s}."
        )
    if at.offset > files[at.file]:
        raise SourceLostTransactions(f"The position is {at}, and that file of the source ends at {files[at.file]}.")
    return True


def completed(
    connection: SourceConnection, settings: SourceSettings, server: ServerFacts, at: BinlogPosition, created_s: int | None = None
) -> SourcePosition:
    """The place with everything that a saved position needs: the executed GTID set up to there, and the file's incarnation.

    `created_s` is that incarnation where somebody has looked already. Raises ConfigurationError where no transaction begins.
    """
    gtid_set = ""
    if settings.gtid and server.mariadb:
        answer = connection.rows("SELECT BINLOG_GTID_POS(%s, %s)", at.file, at.offset)[0][0]
        if answer is None:
            raise no_such_place(at, "it is not the beginning of a transaction")
        gtid_set = str(GtidSet.parse(answer))
    elif settings.gtid and server.has_gtids:
        gtid_set = str(mysql_gtids_before(settings, server, at.file, at.offset))
    if created_s is None:
        created_s = file_created_s(settings, server, at.file)
    return SourcePosition(at, gtid_set, SourceIdentity(server.server_uuid, server.server_id, created_s))


def binlog_end(connection: SourceConnection, server: ServerFacts) -> BinlogPosition:
    """Where the binlog ends now. Raises SourceSettingsRefused when there is none."""
    newer = not server.mariadb and server.version >= (8, 2, 0)
    rows = connection.rows("SHOW BINARY LOG STATUS" if newer else "SHOW MASTER STATUS")
    if not rows:
        raise SourceSettingsRefused(f"The source at {connection.place} has no binlog.")
    return BinlogPosition(str(rows[0][0]), int(rows[0][1]))


def no_such_place(at: BinlogPosition, why: str) -> ConfigurationError:
    """What is wrong with a place that somebody named."""
    return ConfigurationError(f"Reading cannot start at {at}: {why}.", remedy=_START_REMEDY)


def _stem(file: str) -> str:
    return file.rpartition(".")[0]

"""Compares a saved position with the server's history before reading resumes there."""

from typing import Final

from relay.errors import (
    BinlogPurged,
    ConfigurationError,
    HistoryChanged,
    SourceLostTransactions,
    SourceNotPermitted,
    SourceSettingsRefused,
)
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import (
    BinlogPosition,
    SourceIdentity,
    SourcePosition,
    file_number,
)
from relay.settings import SourceSettings
from relay.source.positions.binlog_probe import file_created_s, mysql_gtids_before
from relay.source.positions.last_transaction_check import LastTransactionCheck
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

_START_REMEDY: Final = (
    "Set start.journal_name and start.position to the beginning of a transaction that the source "
    "still has."
)
_LISTED_WITHOUT_SUPER: Final = (5, 5, 25)
_SUPER_NEEDED: Final = (
    "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SUPER, SELECT ON *.* TO the account of the "
    "relay: "
    "MySQL before 5.5.25 lists its binlog files for accounts with SUPER only."
)
_NEXT_FILE_REMEDY: Final = (
    "The source lost the end of that file (crash without sync_binlog=1, or an older copy "
    "restored). Bring back the server that has it. If it is permanently lost, run `roma "
    "position set --file {file} --offset 4`, which continues with the first transaction after "
    "the loss. Then repair the copies (`roma reconcile --repair`, or a new first copy), "
    "because they have rows that the source does not have."
)


def resumed(
    connection: SourceConnection,
    settings: SourceSettings,
    server: ServerFacts,
    saved: SourcePosition,
) -> tuple[SourcePosition, bool]:
    """Check the saved position; return it, and whether the dump must be requested by GTID.

    Raises HistoryChanged, SourceLostTransactions or BinlogPurged before a row is read.
    """
    _check_server(server, saved)
    by_gtid = settings.gtid and server.has_gtids and bool(saved.gtid_set)
    # The file first: after a RESET the GTIDs are missing too, but not because they were lost.
    files = binlog_files(connection)
    known = _check_file(settings, server, files, saved, by_gtid=by_gtid)
    if by_gtid:
        _check_gtids(settings, server, saved, in_file=known)
    if saved.last is not None:
        check = LastTransactionCheck(settings, server, files)
        check.in_place(saved.last) if known else check.by_gtid(saved, saved.last)
    if by_gtid or not (settings.gtid and server.has_gtids):
        return saved, by_gtid
    return completed(connection, settings, server, saved.binlog) if known else saved, False


def check_position(
    connection: SourceConnection, settings: SourceSettings, server: ServerFacts, at: SourcePosition
) -> None:
    """Check that the server still has the binlog file of the position. Its creation time must be
    the one in the position, and the file must not be shorter than the offset.

    Raises HistoryChanged, SourceLostTransactions or BinlogPurged.
    """
    _check_server(server, at)
    _check_file(settings, server, binlog_files(connection), at, by_gtid=False)


def binlog_files(connection: SourceConnection) -> dict[str, int]:
    """Return the binlog files that the server still has: name → size in bytes, oldest first.

    Raises SourceNotPermitted, or SourceSettingsRefused if the server has no binlog.
    """
    try:
        rows = connection.rows("SHOW BINARY LOGS")
    except SourceNotPermitted as exc:
        server = read_server_facts(connection)
        if server.mariadb or server.version >= _LISTED_WITHOUT_SUPER:
            raise
        raise SourceNotPermitted(exc.reason, remedy=_SUPER_NEEDED) from exc
    files = {str(row[0]): int(row[1]) for row in rows}
    if not files:
        raise SourceSettingsRefused(f"The source at {connection.address} has no binlog.")
    return files


def _check_server(server: ServerFacts, saved: SourcePosition) -> None:
    expected, found = (
        (saved.identity.server_uuid, server.server_uuid) if saved.identity.server_uuid else ("", "")
    )
    if expected != found:
        raise HistoryChanged(
            f"The position belongs to the server {expected}, and {found or 'one without a uuid'} "
            f"answers."
        )
    if not expected and saved.identity.server_id != server.server_id:
        raise HistoryChanged(
            f"The position belongs to the server of server_id {saved.identity.server_id}, and "
            f"{server.server_id} answers."
        )


def _check_gtids(
    settings: SourceSettings, server: ServerFacts, saved: SourcePosition, *, in_file: bool
) -> None:
    """Check that the source has the published transactions, and still has the binlog of the rest.

    `in_file` says that the position's file holds the position: a MariaDB domain that the source
    does not know at all was then deleted there (FLUSH BINARY LOGS DELETE_DOMAIN_ID), which removes
    no transaction. MySQL's binlog then shows transactions that gtid_executed does not include yet:
    a transaction that waits for a semi-synchronous replica is logged, and may be published.
    """
    published = GtidSet.parse(saved.gtid_set)
    missing = server.held.lacking(published)
    lost = GtidSet(
        missing.intervals,
        {
            d: last
            for d, last in missing.domains.items()
            if not in_file or server.held.knows_domain(d)
        },
    )
    if lost.intervals and in_file:
        lost = lost.without(
            mysql_gtids_before(settings, server, saved.binlog.file, saved.binlog.offset)
        )
    if not lost.empty:
        raise SourceLostTransactions(
            f"The source does not have {lost}, which was published before; it has "
            f"{server.executed or 'none'}."
        )
    if server.mariadb:
        return
    gone = GtidSet.parse(server.purged).without(published)
    if not gone.empty:
        raise BinlogPurged(
            f"The source no longer has the binlog of {gone}, which was not published yet."
        )


def _check_file(
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    saved: SourcePosition,
    *,
    by_gtid: bool,
) -> bool:
    """Return whether the position's file still exists.

    If so, it must be the same incarnation and long enough.
    """
    at = saved.binlog
    if at.file not in files:
        newest, oldest = next(reversed(files)), next(iter(files))
        if file_number(at.file) > file_number(newest) or _stem(at.file) != _stem(newest):
            raise HistoryChanged(
                f"The position is in {at.file}, but the newest binlog file of the source is "
                f"{newest}."
            )
        if by_gtid:
            return False
        raise BinlogPurged(
            f"The position is in {at.file}, but the oldest binlog file of the source is {oldest}."
        )
    created_s = file_created_s(settings, server, at.file)
    if saved.identity.file_created_s and created_s != saved.identity.file_created_s:
        raise HistoryChanged(
            f"{at.file} of the source was created at {created_s} (Unix seconds), and the "
            f"position's {at.file} at {saved.identity.file_created_s}: they are different "
            "files."
        )
    if at.offset > files[at.file]:
        raise _beyond_the_end(at, files)
    return True


def _beyond_the_end(at: BinlogPosition, files: dict[str, int]) -> SourceLostTransactions:
    """Return the error for a file that is shorter than its published part. A server begins a new
    file when it starts: if there is one, nothing in it was published, and everything before it
    was.
    """
    names = list(files)
    later = names[names.index(at.file) + 1 :]
    remedy = _NEXT_FILE_REMEDY.format(file=later[0]) if later else None
    return SourceLostTransactions(
        f"The position is {at}, but this file of the source ends at offset {files[at.file]}.",
        remedy=remedy,
    )


def completed(
    connection: SourceConnection,
    settings: SourceSettings,
    server: ServerFacts,
    at: BinlogPosition,
    created_s: int | None = None,
) -> SourcePosition:
    """Return the coordinates `at` as a complete position: with the GTID set executed up to them,
    and the creation time of their file.

    `created_s` is that time if it is already known (Unix seconds). Raises ConfigurationError if no
    transaction begins there.
    """
    gtid_set = ""
    if settings.gtid and server.mariadb:
        answer = connection.rows("SELECT BINLOG_GTID_POS(%s, %s)", at.file, at.offset)[0][0]
        if answer is None:
            raise no_such_position(at, "it is not the beginning of a transaction")
        gtid_set = str(GtidSet.parse(answer))
    elif settings.gtid and server.has_gtids:
        gtid_set = str(mysql_gtids_before(settings, server, at.file, at.offset))
    if created_s is None:
        created_s = file_created_s(settings, server, at.file)
    return SourcePosition(
        at, gtid_set, SourceIdentity(server.server_uuid, server.server_id, created_s)
    )


def binlog_end(connection: SourceConnection, server: ServerFacts) -> BinlogPosition:
    """Return the position at which the binlog ends now. Raises SourceSettingsRefused if the server
    has no binlog.
    """
    newer = not server.mariadb and server.version >= (8, 2, 0)
    rows = connection.rows("SHOW BINARY LOG STATUS" if newer else "SHOW MASTER STATUS")
    if not rows:
        raise SourceSettingsRefused(f"The source at {connection.address} has no binlog.")
    return BinlogPosition(str(rows[0][0]), int(rows[0][1]))


def no_such_position(at: BinlogPosition, why: str) -> ConfigurationError:
    """Return the error for a position that an operator names and the binlog does not have. `why` is
    a clause with the reason.
    """
    return ConfigurationError(f"Reading cannot start at {at}: {why}.", remedy=_START_REMEDY)


def _stem(file: str) -> str:
    return file.rpartition(".")[0]

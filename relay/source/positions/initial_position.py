"""Finds the position at which an instance without a saved position begins: coordinates or a time
from the settings, or an end of the binlog.
"""

from contextlib import closing
from datetime import datetime

from relay.errors import SourceUnreachable, Stop
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source.positions.binlog_probe import FIRST_OFFSET
from relay.source.positions.resume import binlog_end, binlog_files, completed, no_such_position
from relay.source.positions.time_search import border_in_file, boundary_at_time
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts


def fresh_start(
    connection: SourceConnection,
    settings: SourceSettings,
    server: ServerFacts,
    start: StartSettings,
) -> SourcePosition:
    """Return the position that the start settings name.

    Raises ConfigurationError if the server has no such position, and BinlogPurged if its oldest
    binlog file is newer than the wanted time.
    """
    files = binlog_files(connection)
    if start.timestamp is not None and start.at == "timestamp":
        return _timed(connection, settings, server, files, start.timestamp, start.journal_name)
    if start.at == "oldest":
        at = BinlogPosition(next(iter(files)), FIRST_OFFSET)
    elif start.at == "end":
        at = binlog_end(connection, server)
    else:
        at = _named(connection, files, start)
    return completed(connection, settings, server, at)


def position_of_time(
    settings: SourceSettings, time: datetime, file: str | None = None
) -> SourcePosition:
    """Return the position at which an instance with the start time `time` would begin; `file`
    limits the search to one binlog file.

    Raises the errors of `fresh_start`.
    """
    start = StartSettings(at="timestamp", journal_name=file, timestamp=time)
    with closing(SourceConnection(settings)) as connection:
        return fresh_start(connection, settings, read_server_facts(connection), start)


def _timed(
    connection: SourceConnection,
    settings: SourceSettings,
    server: ServerFacts,
    files: dict[str, int],
    time: datetime,
    file: str | None,
) -> SourcePosition:
    time_ms = int(time.timestamp() * 1000)
    if file is None:
        position = boundary_at_time(settings, server, files, time_ms)
        return completed(connection, settings, server, position.binlog, position.file_created_s)
    _check_file(files, BinlogPosition(file, FIRST_OFFSET))
    return completed(
        connection, settings, server, border_in_file(settings, server, file, files[file], time_ms)
    )


def _named(
    connection: SourceConnection, files: dict[str, int], start: StartSettings
) -> BinlogPosition:
    at = BinlogPosition(start.journal_name or "", start.position or FIRST_OFFSET)
    _check_file(files, at)
    if at.offset > files[at.file]:
        raise no_such_position(at, f"the file ends at {files[at.file]}")
    if FIRST_OFFSET < at.offset < files[at.file]:
        _check_event_begins(connection, at)
    return at


def _check_file(files: dict[str, int], at: BinlogPosition) -> None:
    if at.file not in files:
        raise no_such_position(at, f"the source has {next(iter(files))} to {next(reversed(files))}")


def _check_event_begins(connection: SourceConnection, at: BinlogPosition) -> None:
    """Check that an event begins at the position: MariaDB refuses one inside an event, MySQL
    continues with the next event.
    """
    try:
        shown = connection.rows("SHOW BINLOG EVENTS IN %s FROM %s LIMIT 1", at.file, at.offset)
    except (Stop, SourceUnreachable) as exc:
        raise no_such_position(at, f"no event begins there ({exc.reason})") from exc
    if not shown or int(shown[0][1]) != at.offset:
        raise no_such_position(at, "no event begins there")

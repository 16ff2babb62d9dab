"""Finds where to continue on another server if no position can be proven. The position is earlier
in time than the last published row, so rows are published again and none is lost.
"""

from contextlib import closing

from relay.errors import BinlogPurged, StandbyPurged
from relay.model.positions.position import SourceIdentity, SourcePosition
from relay.settings import SourceSettings
from relay.source.positions.resume import binlog_files
from relay.source.positions.time_search import boundary_at_time
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import read_server_facts


def boundary_before(settings: SourceSettings, time_s: float) -> SourcePosition:
    """Return the transaction boundary before the first transaction that was committed at `time_s`
    (Unix seconds) or later.

    The position has no GTID set. Raises StandbyPurged if the oldest binlog file is newer than
    `time_s`.
    """
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        files = binlog_files(connection)
    try:
        position = boundary_at_time(settings, server, files, int(time_s * 1000))
    except BinlogPurged as exc:
        raise StandbyPurged(
            f"{settings.host}:{settings.port} no longer has all changes since {int(time_s)} "
            f"(Unix seconds): {exc.reason}"
        ) from exc
    return SourcePosition(
        position.binlog,
        "",
        SourceIdentity(server.server_uuid, server.server_id, position.file_created_s),
    )

"""Where to read on at a server of which nothing can be proven: back by time, so that it repeats instead of leaving out."""

from contextlib import closing

from relay.errors import StandbyPurged
from relay.model.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.settings import SourceSettings
from relay.source.connection import SourceConnection
from relay.source.probe import begin_since, file_created_s
from relay.source.server_facts import read_server_facts
from relay.source.start import binlog_files


def place_before(settings: SourceSettings, time_s: float) -> SourcePosition:
    """The border before the first transaction that began at `time_s` (Unix seconds) or later, without GTIDs.

    Raises StandbyPurged when the oldest binlog file is newer than that.
    """
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        files = binlog_files(connection)
    for file in reversed(files):
        created_s = file_created_s(settings, server, file)
        if created_s <= time_s:
            offset = begin_since(settings, server, file, files[file], time_s)
            return SourcePosition(BinlogPosition(file, offset), "", SourceIdentity(server.server_uuid, server.server_id, created_s))
    oldest = next(iter(files))
    raise StandbyPurged(f"The oldest binlog file of {settings.host}:{settings.port}, {oldest}, is newer than {int(time_s)} (Unix seconds).")

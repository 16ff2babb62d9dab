"""One attempt to open a source: connect, check, resolve the start, ask for the binlog."""

from collections.abc import Iterable

from relay.model.gtid import GtidSet
from relay.model.position import SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source.checks import server_id_error, settings_error
from relay.source.connection import SourceConnection
from relay.source.server_facts import read_server_facts
from relay.source.session import start_dump
from relay.source.start import fresh_start, resumed
from relay.source.stream import SourceStream
from relay.source.transaction_assembler import ExcludedRange


def open_source(
    settings: SourceSettings,
    resume: SourcePosition | None,
    start: StartSettings,
    *,
    excluded: Iterable[ExcludedRange] = (),
) -> SourceStream:
    """Connect once and begin to read after `resume`, or where `start` says when nothing is saved.

    Everything that can be known before the first row is checked here: raises Unreachable, a Stop or ConfigurationError.
    """
    connection = SourceConnection(settings)
    try:
        server = read_server_facts(connection)
        if error := settings_error(server) or server_id_error(connection, settings, server):
            raise error
        if resume is None:
            position, by_gtid = fresh_start(connection, settings, server, start), False
        else:
            position, by_gtid = resumed(connection, settings, server, resume)
        start_dump(connection, settings, server, position.binlog, GtidSet.parse(position.gtid_set) if by_gtid else None)
        return SourceStream(connection, server, position, by_gtid=by_gtid, excluded=excluded)
    except BaseException:
        connection.close()
        raise

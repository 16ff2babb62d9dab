"""Opens a source once: connects, checks, finds the start position, and requests the binlog."""

from collections.abc import Iterable

import structlog

from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source.events.binlog_event import Scanner
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.positions.by_gtid.gtid_position import position_of_gtid_set
from relay.source.positions.initial_position import fresh_start
from relay.source.positions.resume import resumed
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import start_dump
from relay.source.protocol.replica_id import free_server_id
from relay.source.protocol.server_facts import ServerFacts, read_server_facts
from relay.source.server_checks import (
    CLOCK_LIMIT_SECONDS,
    clock_difference_s,
    clock_error,
    settings_error,
)
from relay.source.stream import SourceStream

_log = structlog.stdlib.get_logger(__name__)


def open_source(
    settings: SourceSettings,
    resume: SourcePosition | None,
    start: StartSettings,
    *,
    excluded: Iterable[ExcludedRange] = (),
    clock_limit_s: float = CLOCK_LIMIT_SECONDS,
    scanner: Scanner | None = None,
    replica: str = "",
    whole_images: bool = True,
) -> SourceStream:
    """Connect, and return a stream that begins after the position `resume`; if that is None, at the
    position that `start` names.

    The function makes all checks that are possible before the first row. Raises Unreachable, a Stop
    or ConfigurationError.

    excluded       rolled-back rows that the stream leaves out
    clock_limit_s  clocks that differ by more seconds are logged
    scanner        finds events faster than reading them one by one; None: no scanner
    replica        names the reader, for choosing a server_id if none is configured
    whole_images   False: rows may lack columns
    """
    connection = SourceConnection(settings)
    try:
        server = read_server_facts(connection)
        if error := settings_error(server, settings, whole_images=whole_images):
            raise error
        server_id = free_server_id(connection, settings, server, replica)
        if apart := clock_error(clock_difference_s(connection), clock_limit_s):
            _log.warning("clocks_apart", reason=apart.reason, remedy=apart.way_out)
        position, by_gtid = _start(connection, settings, server, resume, start)
        start_dump(
            connection,
            server,
            server_id,
            position.binlog,
            GtidSet.parse(position.gtid_set) if by_gtid else None,
        )
        return SourceStream(
            connection, server, position, by_gtid=by_gtid, excluded=excluded, scanner=scanner
        )
    except BaseException:
        connection.close()
        raise


def check_start(
    settings: SourceSettings, resume: SourcePosition | None, start: StartSettings
) -> SourcePosition:
    """Return the position where reading would begin, without requesting the binlog.

    The parameters are those of `open_source`. Raises its errors about the position.
    """
    connection = SourceConnection(settings)
    try:
        return _start(connection, settings, read_server_facts(connection), resume, start)[0]
    finally:
        connection.close()


def _start(
    connection: SourceConnection,
    settings: SourceSettings,
    server: ServerFacts,
    resume: SourcePosition | None,
    start: StartSettings,
) -> tuple[SourcePosition, bool]:
    """Return the position, and whether to request it by GTID."""
    if resume is None and start.gtid_set is not None:
        return position_of_gtid_set(settings, start.gtid_set), False
    if resume is None:
        return fresh_start(connection, settings, server, start), False
    return resumed(connection, settings, server, resume)

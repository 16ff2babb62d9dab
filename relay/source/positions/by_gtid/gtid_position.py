"""Finds the position in a server's binlog that separates the transactions of a GTID set from all
others.

If the server had executed exactly the set at some time, there is exactly one position. A set that
was executed in another order, as on a replica that applies in parallel, may have no such position.
Such a set is refused, because an ALTER TABLE could then be on the wrong side of every position.
"""

from contextlib import closing
from typing import Final

from relay.errors import (
    BinlogPurged,
    ConfigurationError,
    StandbyBehind,
    StandbyPurged,
    SwitchRefused,
)
from relay.model.failover import Published
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.settings import SourceSettings
from relay.source.positions.binlog_probe import first_beyond
from relay.source.positions.by_gtid.standby_proof import proven_position
from relay.source.positions.resume import binlog_files, completed
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

_ONE_MOMENT: Final = (
    "Give the set that this server had executed at one time (MySQL: @@gtid_executed, MariaDB: "
    "@@gtid_binlog_pos). Or give a time, or a file and an offset."
)
_PURGED: Final = (
    'Give a newer set, or set start.at = "oldest" to begin with the oldest binlog of the source.'
)


def position_of_gtid_set(settings: SourceSettings, gtid_set: str) -> SourcePosition:
    """Return the position that has exactly the transactions of a GTID set before it.

    Raises ConfigurationError if the server has no such position, BinlogPurged if the binlog after
    the set is purged, and the errors of a connection.
    """
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        wanted = _set_of(settings, server, gtid_set)
        file = _file(settings, gtid_set)
        size_bytes = binlog_files(connection)[file]
        offset = first_beyond(settings, server, file, size_bytes, wanted)
        found = completed(connection, settings, server, BinlogPosition(file, offset))
    _check_divided(found, wanted)
    return found


def _set_of(settings: SourceSettings, server: ServerFacts, gtid_set: str) -> GtidSet:
    """Read the text. Raises ConfigurationError if it cannot be a set of this server."""
    try:
        wanted = GtidSet.parse(gtid_set)
    except ValueError as exc:
        raise ConfigurationError(
            f"{exc}.", remedy="Write the GTID set as the source prints it."
        ) from exc
    if wanted.empty:
        raise ConfigurationError(
            "The GTID set is empty.", remedy='Set start.at = "oldest" to read from the beginning.'
        )
    if not settings.gtid or not server.has_gtids:
        missing = "gtid_mode is not ON there" if settings.gtid else "source.gtid is false"
        raise ConfigurationError(
            f"{settings.host}:{settings.port} cannot be read from a GTID set: {missing}.",
            remedy="Name a file and an offset, or a time.",
        )
    if bool(wanted.domains) is not server.mariadb or (wanted.domains and wanted.intervals):
        family = "MariaDB" if server.mariadb else "MySQL"
        raise ConfigurationError(
            f"{gtid_set!r} contains GTIDs of a form that {family} does not use.", remedy=_ONE_MOMENT
        )
    return wanted


def _file(settings: SourceSettings, gtid_set: str) -> str:
    """Return the newest file before which everything is in the set."""
    published = Published(SourceIdentity("", 0, 0), gtid_set, "")
    try:
        return proven_position(settings, published).position.binlog.file
    except StandbyPurged as exc:
        raise BinlogPurged(
            f"The GTID set is older than the binlog: {exc.reason}", remedy=_PURGED
        ) from exc
    except (StandbyBehind, SwitchRefused) as exc:
        raise ConfigurationError(
            f"The source does not have the GTID set: {exc.reason}", remedy=_ONE_MOMENT
        ) from exc


def _check_divided(found: SourcePosition, wanted: GtidSet) -> None:
    """Check that no transaction of the set is after the position."""
    later = wanted.without(GtidSet.parse(found.gtid_set))
    if not later.empty:
        raise ConfigurationError(
            f"No position separates the GTID set from other transactions: {later} is after "
            f"{found.binlog}, where a transaction begins that is not in the set.",
            remedy=_ONE_MOMENT,
        )

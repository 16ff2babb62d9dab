"""Finds the server of a source, master or standby, to which a position belongs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from relay.errors import ConfigurationError, MoveRefused, RelayError, Stop, Unreachable
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.settings import InstanceSettings, SourceSettings
from relay.source import (
    TransactionPosition,
    check_start,
    transaction_position,
    transaction_position_of,
)

_PLACE_REMEDY: Final = (
    "Name the offset of a transaction's first event, as mysqlbinlog or SHOW BINLOG EVENTS shows it."
)


@dataclass(frozen=True, slots=True)
class FollowedPosition:
    """A position (`target`), and the settings of the server on which it was found."""

    settings: SourceSettings
    target: TransactionPosition


def followed_position(
    source: SourceSettings, standing: SourcePosition | None, at: BinlogPosition | str
) -> FollowedPosition:
    """Return the position `at` on a server of the source, the master or its standby.

    at        binlog coordinates, or the text of a GTID set
    standing  the present position of the source; None: it has no position

    If the server of `standing` has `at`, the result is on that server, otherwise on the first
    server that has `at`. If no server has it, raises MoveRefused if no transaction begins there on
    the master, otherwise the error of the master.
    """
    found: list[FollowedPosition] = []
    refusals: list[RelayError] = []
    for settings in _servers(source):
        try:
            target = (
                transaction_position_of(settings, at)
                if isinstance(at, str)
                else transaction_position(settings, at)
            )
        except (ConfigurationError, Unreachable, Stop) as exc:
            refusals.append(exc)
            continue
        found.append(FollowedPosition(settings, target))
        if standing is None or target.position.identity.server == standing.identity.server:
            return found[-1]
    if found:
        return found[0]
    first = refusals[0]
    raise (
        MoveRefused(first.reason, remedy=first.way_out if isinstance(at, str) else _PLACE_REMEDY)
        if isinstance(first, ConfigurationError)
        else first
    )


def check_readable(
    instance: InstanceSettings, settings: SourceSettings, record: PositionRecord
) -> None:
    """Check that the server with the connection settings `settings` still has the binlog from the
    record's position on.

    Raises MoveRefused if it does not.
    """
    try:
        check_start(settings, record.source, instance.start)
    except Stop as exc:
        remedy = (
            "Add --as-new: the rows after the position then get new order keys, and consumers "
            "apply them again."
        )
        raise MoveRefused(
            f"Reading would begin at {record.source.binlog}: {exc.reason}", remedy=remedy
        ) from exc


def _servers(source: SourceSettings) -> Iterator[SourceSettings]:
    yield source
    standby = source.at_standby()
    if standby is not None:
        yield standby

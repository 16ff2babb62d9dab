"""Which of a source's servers a place is asked of: the one that its position belongs to, master or
standby.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from relay.errors import ConfigurationError, MoveRefused, RelayError, Stop, Unreachable
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.settings import InstanceSettings, SourceSettings
from relay.source import TransactionPlace, check_start, transaction_place

_PLACE_REMEDY: Final = (
    "Name the offset of a transaction's first event, as mysqlbinlog or SHOW BINLOG EVENTS shows it."
)


@dataclass(frozen=True, slots=True)
class FollowedPlace:
    """A place on one of the servers, with the settings that lead there."""

    settings: SourceSettings
    place: TransactionPlace


def followed_place(
    source: SourceSettings, standing: SourcePosition | None, at: BinlogPosition
) -> FollowedPlace:
    """Find the place on the server that the source's position belongs to.

    On the first that has it where none of them is that.

    Raises MoveRefused where no transaction begins there, and what keeps a server from saying so.
    """
    found: list[FollowedPlace] = []
    refusals: list[RelayError] = []
    for settings in _servers(source):
        try:
            place = transaction_place(settings, at)
        except (ConfigurationError, Unreachable, Stop) as exc:
            refusals.append(exc)
            continue
        found.append(FollowedPlace(settings, place))
        if standing is None or place.position.identity.server == standing.identity.server:
            return found[-1]
    if found:
        return found[0]
    first = refusals[0]
    raise (
        MoveRefused(first.reason, remedy=_PLACE_REMEDY)
        if isinstance(first, ConfigurationError)
        else first
    )


def check_readable(
    instance: InstanceSettings, settings: SourceSettings, record: PositionRecord
) -> None:
    """Make sure that the server still has what lies behind a record. Raises MoveRefused."""
    try:
        check_start(settings, record.source, instance.start)
    except Stop as exc:
        remedy = (
            "Add --as-new: everything behind the place then comes with new pairs, and consumers "
            "apply it again."
        )
        raise MoveRefused(
            f"Reading would begin at {record.source.binlog}: {exc.reason}", remedy=remedy
        ) from exc


def _servers(source: SourceSettings) -> Iterator[SourceSettings]:
    yield source
    standby = source.at_standby()
    if standby is not None:
        yield standby

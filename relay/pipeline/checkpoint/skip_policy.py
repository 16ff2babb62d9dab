"""Decides which source transactions are read but not published, by operators' requests.

Pure; based on coordinates and GTIDs.
"""

from collections.abc import Collection
from enum import Enum

from relay.model.change import TransactionBegin
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import Replay


class SkipReason(Enum):
    """Why a transaction is read, counted and not published."""

    BEFORE = "it is before the position after the move"
    SKIPPED = "an operator skips it"


def skip_reason(
    begin: TransactionBegin, replay: Replay | None, skips: Collection[str]
) -> SkipReason | None:
    """Return why this transaction is not published; None if it is."""
    if begin.gtid and begin.gtid in skips:
        return SkipReason.SKIPPED
    if replay is not None and not behind(begin.position, replay.publish_from):
        return SkipReason.BEFORE
    return None


def behind(place: BinlogPosition, other: BinlogPosition) -> bool:
    """Whether a position equals the other one or is after it, in the history of one server."""
    return place.rank >= other.rank

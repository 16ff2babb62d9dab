"""Which source transactions are read and not published, because an operator asked for it: pure
judgement on places and GTIDs.
"""

from collections.abc import Collection
from enum import Enum

from relay.model.change import TransactionBegin
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import Replay


class SkipReason(Enum):
    """Why a transaction is read, counted and not published."""

    BEFORE = "it lies before the place that the position was moved to"
    SKIPPED = "an operator skips it"


def skip_reason(
    begin: TransactionBegin, replay: Replay | None, skips: Collection[str]
) -> SkipReason | None:
    """Say why nothing of this transaction is published; None for one that is."""
    if begin.gtid and begin.gtid in skips:
        return SkipReason.SKIPPED
    if replay is not None and not behind(begin.position, replay.publish_from):
        return SkipReason.BEFORE
    return None


def behind(place: BinlogPosition, other: BinlogPosition) -> bool:
    """Whether a place is the other one or lies behind it, in the history of one server."""
    return place.rank >= other.rank

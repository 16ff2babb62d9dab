"""Which source transactions are read and not published, because an operator asked for it: pure judgement on places and GTIDs."""

from collections.abc import Collection
from enum import Enum

from relay.model.change import TransactionBegin
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import Replay


class LeftOut(Enum):
    """Why a transaction is read, counted and not published."""

    BEFORE = "it lies before the place that the position was moved to"
    SKIPPED = "an operator skips it"


def left_out(begin: TransactionBegin, replay: Replay | None, skips: Collection[str]) -> LeftOut | None:
    """Say why nothing of this transaction is published, None for one that is."""
    if begin.gtid and begin.gtid in skips:
        return LeftOut.SKIPPED
    if replay is not None and not behind(begin.position, replay.publish_from):
        return LeftOut.BEFORE
    return None


def behind(place: BinlogPosition, other: BinlogPosition) -> bool:
    """Whether a place is the other one or lies behind it, in the history of one server."""
    return place.rank >= other.rank

"""Decides which source transactions are read but not published, because an operator moved the
position or skips them.

The functions are pure: they compare coordinates and GTIDs.
"""

from collections.abc import Collection
from enum import Enum

from relay.model.change import TransactionBegin
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import Replay


class SkipReason(Enum):
    """Why a transaction is read, counted and not published."""

    BEFORE = "it is before the position to which an operator moved the instance"
    SKIPPED = "an operator skips it"


def skip_reason(
    begin: TransactionBegin, replay: Replay | None, skips: Collection[str]
) -> SkipReason | None:
    """Return why the transaction is not published; None: it is published.

    begin   the begin of the transaction
    replay  the range that is published again after an operator moved the position back; None: there
            is no such range
    skips   the GTIDs that operators skip
    """
    if begin.gtid and begin.gtid in skips:
        return SkipReason.SKIPPED
    if replay is not None and not is_at_or_after(begin.position, replay.publish_from):
        return SkipReason.BEFORE
    return None


def is_at_or_after(position: BinlogPosition, other: BinlogPosition) -> bool:
    """Return whether `position` equals `other` or is later in the binlog of the same server."""
    return position.rank >= other.rank

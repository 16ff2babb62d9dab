"""Describes the effect of a move of an instance's position before the move is made."""

from dataclasses import dataclass

from relay.model.positions.gtid import GtidSet
from relay.operations.positions.repositioning import Reposition
from relay.operations.positions.rows_between import RowsBetween


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a move.

    reposition      the move
    leader          the relay that leads the instance, None if none does
    distance_bytes  the bytes of binlog between both positions, negative for a move back; None: the
                    source no longer has all of it
    gtids           the transactions between both positions, "" if unknown
    files           over how many binlog files that range extends, None: unknown
    between         the rows between both positions, None: unknown
    """

    reposition: Reposition
    leader: str | None
    distance_bytes: int | None
    gtids: str
    files: int | None = None
    between: RowsBetween | None = None

    @property
    def transactions(self) -> int | None:
        """The number of transactions in `gtids`; None if `gtids` is "", and on MariaDB, whose GTID
        sets do not show how many transactions they contain.
        """
        found = GtidSet.parse(self.gtids)
        if found.domains or not self.gtids:
            return None
        return sum(last - first + 1 for held in found.intervals.values() for first, last in held)

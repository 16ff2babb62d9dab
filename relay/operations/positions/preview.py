"""The effect of a move of a position, before it is made."""

from dataclasses import dataclass

from relay.model.positions.gtid import GtidSet
from relay.operations.positions.repositioning import Reposition
from relay.operations.positions.rows_between import RowsBetween


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a move.

    `distance_bytes` of binlog in `files` files are between both positions (None if the source lacks
    some), with the transactions `gtids` and the rows `between` (None: not known).
    """

    reposition: Reposition
    leader: str | None
    distance_bytes: int | None
    gtids: str
    files: int | None = None
    between: RowsBetween | None = None

    @property
    def transactions(self) -> int | None:
        """The number of transactions in `gtids`; None if MariaDB's domains do not show it."""
        found = GtidSet.parse(self.gtids)
        if found.domains or not self.gtids:
            return None
        return sum(last - first + 1 for held in found.intervals.values() for first, last in held)

"""What is known beyond a session of the rows that a source rolled back."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.model.positions.position import BinlogPosition
from relay.source import ExcludedRange


@dataclass(slots=True)
class RolledBack:
    """Of one source, as places of the server that is read; used by the instance's thread.

    Of a group, the threads that read add to the ranges, too.

    `ranges` are left out when the server is read next. `read` begins the transaction that was last
    read to its end, and whose rolled-back rows are among the ranges. `unread` begins one that was
    due in part before it was read to its end.
    """

    ranges: list[ExcludedRange] = field(default_factory=list)
    read: BinlogPosition | None = None
    unread: BinlogPosition | None = None

    def leave_out(self, ranges: Iterable[ExcludedRange]) -> None:
        """Have these rows left out by the next reading."""
        self.ranges.extend(each for each in ranges if each not in self.ranges)

    def forget(self) -> None:
        """Another server is read: these are places of the former one."""
        self.ranges.clear()
        self.read = self.unread = None

"""Rolled-back rows of a source that are known beyond a run."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.model.positions.position import BinlogPosition
from relay.source import ExcludedRange


@dataclass(slots=True)
class RolledBack:
    """Rolled-back rows of one source, as coordinates of the followed server; used by the instance's
    thread. In a group, the reading threads add ranges too.

    `ranges` are left out when the server is read next. `read` is the begin of the transaction that
    was last read to its end; its rolled-back rows are in the ranges. `unread` is the begin of one
    that was due in part before it was read to its end. `epoch` is that of the position record.
    """

    ranges: list[ExcludedRange] = field(default_factory=list)
    read: BinlogPosition | None = None
    unread: BinlogPosition | None = None
    epoch: int = 0

    def leave_out(self, ranges: Iterable[ExcludedRange]) -> None:
        """Record rolled-back rows: the next reading of the source leaves them out."""
        self.ranges.extend(each for each in ranges if each not in self.ranges)

    def of_transaction(self, begin: BinlogPosition) -> list[ExcludedRange]:
        """Return the known ranges of the transaction that begins there."""
        return [each for each in self.ranges if each[:2] == (begin.file, begin.offset)]

    def continue_in(self, epoch: int, *, switches: bool) -> None:
        """Drop the coordinates of another epoch or server: other transactions have the same ones.

        A RESET of the binlog writes the same files and offsets again.
        """
        if epoch != self.epoch or switches:
            self.epoch = epoch
            self.ranges.clear()
            self.read = self.unread = None

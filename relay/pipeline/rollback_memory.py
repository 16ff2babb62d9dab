"""Keeps the known rolled-back rows of a source from one run to the next."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.model.positions.position import BinlogPosition
from relay.source import ExcludedRange


@dataclass(slots=True)
class RolledBack:
    """The known rolled-back rows of one source, as coordinates on the followed server.

    The instance's thread uses it; in a group, the reading threads add ranges too.

    ranges  the rows that the next reading leaves out
    read    the begin of the transaction that was last read to its end; `ranges` has all of its
            rolled-back rows. None: no transaction was read to its end
    unread  the begin of a transaction whose part was due before its end could be read; None: there
            is no such transaction
    epoch   the epoch of the position record to which the coordinates belong
    """

    ranges: list[ExcludedRange] = field(default_factory=list)
    read: BinlogPosition | None = None
    unread: BinlogPosition | None = None
    epoch: int = 0

    def leave_out(self, ranges: Iterable[ExcludedRange]) -> None:
        """Add rolled-back rows, which the next reading of the source leaves out."""
        self.ranges.extend(each for each in ranges if each not in self.ranges)

    def of_transaction(self, begin: BinlogPosition) -> list[ExcludedRange]:
        """Return the known rolled-back rows of the transaction that begins at `begin`."""
        return [each for each in self.ranges if each[:2] == (begin.file, begin.offset)]

    def continue_in(self, epoch: int, *, switches: bool) -> None:
        """Drop all coordinates if `epoch` is a new one or the source `switches` to another server.

        The same coordinates then belong to other transactions. After a RESET, for example, the
        binlog has the same file names and offsets again.
        """
        if epoch != self.epoch or switches:
            self.epoch = epoch
            self.ranges.clear()
            self.read = self.unread = None

"""Reads the visible items of a spool, from one position on."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from relay.errors import SpoolUnusable
from relay.model.change import Advance, RawItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import SourcePosition
from relay.spool.binlog_order import rank, same_file
from relay.spool.disk import disk_errors
from relay.spool.frames import read_frame
from relay.spool.items import items_of
from relay.spool.segment import Segment


class SpooledItems(NamedTuple):
    """Consecutive items, and when they were read from the source, in Unix milliseconds."""

    items: Sequence[RawItem]
    read_ms: int


class Visible(Protocol):
    """The interface by which a cursor finds the data that it may read."""

    def visible(self, segment: Segment) -> tuple[int, Segment | None]:
        """Return the number of bytes of a file that may be read, and the next file; None if there
        is none.
        """


class SpoolCursor:
    """Reads the items of a spool, transaction by transaction. Used by one thread."""

    def __init__(self, spool: Visible, segment: Segment) -> None:
        self._spool = spool
        self._segment = segment
        self._at = segment.frames_at
        self._file: BinaryIO | None = None
        self._left: deque[SpooledItems] = deque()

    def skip_to(self, at: SourcePosition) -> bool:
        """Move to a position, reading from the beginning of the file.

        Return False if it is not the end of a transaction in the spool.
        """
        before = self._segment.start
        while (found := self.next()) is not None:
            for number, item in enumerate(found.items):
                if isinstance(item, TransactionBegin | Advance) and rank(item.position) >= rank(
                    at.binlog
                ):
                    self._left.append(SpooledItems(found.items[number:], found.read_ms))
                    return _meets(before, at, item)
                if isinstance(item, TransactionEnd | Advance):
                    if rank(item.position) > rank(at.binlog):
                        return False
                    before = SourcePosition(item.position, "", item.identity)
        return _meets(before, at)

    def next(self) -> SpooledItems | None:
        """Return the items after the last ones; None if no more are visible.

        Raises SpoolUnusable for damaged data.
        """
        if self._left:
            return self._left.popleft()
        size_bytes, behind = self._spool.visible(self._segment)
        if self._at >= size_bytes:
            if behind is None:
                return None
            self.close()
            self._segment, self._at = behind, behind.frames_at
            return self.next()
        with disk_errors(self._segment.path):
            return self._read(self._opened())

    def close(self) -> None:
        """Close the segment file; the next read opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO:
        if self._file is None:
            # Unbuffered: bytes after the visible end may still be overwritten.
            self._file = self._segment.path.open("rb", buffering=0)
            self._file.seek(self._at)
        return self._file

    def _read(self, file: BinaryIO) -> SpooledItems:
        frame = read_frame(file)
        if frame is None:
            raise _damaged(self._segment.path, self._at)
        self._at += frame.size_bytes
        return SpooledItems(list(items_of(frame.block)), frame.read_ms)


def _meets(before: SourcePosition, at: SourcePosition, item: RawItem | None = None) -> bool:
    """Return whether the position is in the spool's file of that name, and not in another file that
    got the same name when the server began its binlog again.

    before  the end of the last transaction before the position
    item    the item after the position

    The first item of a file is an Advance, so `before` or `item` names the identity of the file.
    """
    if before.binlog.file == at.binlog.file:
        return same_file(before.identity, at.identity)
    if isinstance(item, Advance) and item.position.file == at.binlog.file:
        return same_file(item.identity, at.identity)
    return False


def _damaged(path: Path, at: int) -> SpoolUnusable:
    return SpoolUnusable(f"{path} is damaged at byte {at}.")

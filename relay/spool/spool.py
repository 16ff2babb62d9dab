"""Stores a range of one source's binlog on disk: consecutive whole transactions."""

import os
import threading
from pathlib import Path
from time import monotonic, time
from typing import BinaryIO, Final

from relay.model.change import Advance, RawItem, TransactionEnd
from relay.model.positions.position import SourcePosition
from relay.model.records.last_transaction import LastTransactionTracker
from relay.spool.binlog_order import rank
from relay.spool.cursor import SpoolCursor
from relay.spool.disk import disk_errors, write_whole
from relay.spool.frames import Frame, frame_bytes
from relay.spool.items import BlockWriter
from relay.spool.recovery import recovered
from relay.spool.segment import Segment, new_segment
from relay.spool.stretch_end import StretchEnd

_CLOSED_BLOCK_BYTES: Final = 1 << 16
"""Size in bytes at which a block is written as a frame when a transaction ends."""
_OPEN_BLOCK_BYTES: Final = 1 << 20
"""Size in bytes at which a block is written in the middle of a transaction, so that memory stays
bounded.
"""
_LARGEST_SEGMENT_BYTES: Final = 64_000_000
_SEGMENTS: Final = 8
"""Smallest number of files among which the size limit is divided, because space is freed file by
file.
"""
_SYNC_SECONDS: Final = 1.0
"""Seconds of data that a power failure may lose. If only the process is killed, flushed data is not
lost.
"""


class Spool:
    """The spool of one source. One thread appends.

    Other threads may read the visible data, which are whole transactions, and delete published
    data. The spool contains everything after `start` up to `end`; both are None while it is empty.
    It exceeds `limit_bytes` by one event at most, if the appending thread checks `full`.
    `cut_bytes` is how many bytes of an earlier process were unusable and were deleted. Every method
    raises SpoolUnusable if the disk fails.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        """Open the files in the folder, up to their last whole transaction."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._segment_bytes = min(_LARGEST_SEGMENT_BYTES, limit_bytes // _SEGMENTS)
        self._lock = threading.RLock()
        self._file: BinaryIO | None = None
        self._block = BlockWriter()
        self._gtids: list[str] = []  # GTIDs of transactions that are not visible yet
        self._border: TransactionEnd | Advance | None = (
            None  # the last item if no transaction is open after it, else None
        )
        self._tracker = LastTransactionTracker()
        self._flush_due = False
        self._synced_at_s = monotonic()
        with disk_errors(folder):
            self._segments, self._end, self.cut_bytes = recovered(folder)
        self._older_bytes = sum(segment.size_bytes for segment in self._segments[:-1])
        self._written_bytes = (
            self._segments[-1].size_bytes if self._segments else 0
        )  # bytes in the last file, frames of an open transaction included

    @property
    def start(self) -> SourcePosition | None:
        """Return the source position where the spool begins; None if it has no file."""
        with self._lock:
            return self._segments[0].start if self._segments else None

    @property
    def end(self) -> SourcePosition | None:
        """Return where the last visible transaction ends; reading the source continues there."""
        with self._lock:
            return self._end.position if self._end is not None else None

    @property
    def empty(self) -> bool:
        """Whether the spool contains no transaction. It may have a start position."""
        return self._older_bytes == 0 and (
            not self._segments or self._segments[-1].frames_at == self._written_bytes
        )

    @property
    def oldest_ms(self) -> int | None:
        """Return when the oldest held event was read from the source, in Unix milliseconds.

        None if it is empty.
        """
        with self._lock:
            return self._segments[0].read_ms if self._segments else None

    @property
    def size_bytes(self) -> int:
        """The size on disk, in bytes."""
        return self._older_bytes + self._written_bytes

    @property
    def full(self) -> bool:
        """Return True if disk and open block together reach the size limit."""
        return self.size_bytes + self._block.size_bytes >= self._limit_bytes

    # Writing

    def begin(self, start: SourcePosition) -> None:
        """Delete everything; from now on store the items after `start`."""
        self.clear()
        with self._lock:
            self._end = StretchEnd(start)
            self._roll(start, 1)

    def append(self, item: RawItem) -> None:
        """Append the next item.

        It becomes visible when its transaction is complete and enough bytes have collected, or when
        `flush` is called.
        """
        self._block.add(item)
        self._tracker.take(item)
        if not isinstance(item, TransactionEnd | Advance):
            self._border = None
            if self._block.size_bytes >= _OPEN_BLOCK_BYTES:
                self._write()
            return
        self._border = item
        if isinstance(item, TransactionEnd) and item.gtid:
            self._gtids.append(item.gtid)
        if self._flush_due or self._block.size_bytes >= _CLOSED_BLOCK_BYTES:
            self._write()

    def flush(self) -> None:
        """Make all whole transactions visible: now, or at the end of the transaction that is being
        appended.
        """
        if self._border is None:
            self._flush_due = True
        elif self._block.size_bytes:
            self._write()

    def give_up_open(self) -> None:
        """Drop the items after the last whole transaction; readers have not seen them.

        The next item that is appended must follow `end`. Call it when the stream is opened again.
        """
        self._block.take()
        self._tracker = LastTransactionTracker()
        self._gtids, self._border, self._flush_due = [], None, False
        if self._file is None:
            return
        with self._lock, disk_errors(self._folder):
            self._written_bytes = self._segments[-1].size_bytes
            self._file.truncate(self._written_bytes)
            self._file.seek(self._written_bytes)

    def close(self) -> None:
        """Stop appending; visible data is kept on disk."""
        try:
            self.give_up_open()
        finally:
            if self._file is not None:
                self._file.close()
                self._file = None

    # Reading

    def holds(self, at: SourcePosition) -> bool:
        """Whether the position is between `start` and `end`, both included.

        Only a cursor can check whether the position is between two transactions.
        """
        start, end = self.start, self.end
        if start is None or end is None or start.identity.server != at.identity.server:
            return False
        return rank(start.binlog) <= rank(at.binlog) <= rank(end.binlog)

    def cursor(self, at: SourcePosition) -> SpoolCursor | None:
        """Return a cursor at `at`; None if the spool has no such position between two
        transactions.
        """
        if not self.holds(at):
            return None
        with self._lock:
            segment = [
                each for each in self._segments if rank(each.start.binlog) <= rank(at.binlog)
            ][-1]
        cursor = SpoolCursor(self, segment)
        if cursor.skip_to(at):
            return cursor
        cursor.close()
        return None

    def visible(self, segment: Segment) -> tuple[int, Segment | None]:
        """Return the number of bytes of a file that may be read, and the next file; None if there
        is none.
        """
        with self._lock:
            return segment.size_bytes, next(
                (each for each in self._segments if each.number == segment.number + 1), None
            )

    # Deleting

    def forget(self, published: SourcePosition) -> None:
        """Delete the files before a position; the last file is kept."""
        with self._lock, disk_errors(self._folder):
            while len(self._segments) > 1 and _lies_before(self._segments[1].start, published):
                oldest = self._segments.pop(0)
                oldest.path.unlink(missing_ok=True)
                self._older_bytes -= oldest.size_bytes

    def begin_file(self) -> None:
        """Start a new file, so that all earlier ones can be deleted.

        Does nothing in the middle of a transaction.
        """
        with self._lock:
            last, end = self._segments[-1], self.end
            if not last.empty and last.size_bytes == self._written_bytes and end is not None:
                self._roll(end, last.number + 1)

    def is_published(self, published: SourcePosition) -> bool:
        """Whether all visible data is at or before the position."""
        end = self.end
        return end is not None and _lies_before(end, published)

    def clear(self) -> None:
        """Delete all items, on disk and in memory."""
        self.close()
        with self._lock, disk_errors(self._folder):
            while self._segments:
                # The newest file is deleted first. If the process is killed meanwhile, the
                # remaining files are consecutive.
                self._segments.pop().path.unlink(missing_ok=True)
            self._older_bytes, self._written_bytes, self._end = 0, 0, None

    def _write(self) -> None:
        """Write the collected items as one frame into the last file."""
        border = self._border
        frame = Frame(self._block.take(), int(time() * 1000), closed=border is not None)
        with self._lock, disk_errors(self._folder):
            file = self._writable()
            write_whole(file, frame_bytes(frame))
            self._written_bytes += frame.size_bytes
            if self._segments[-1].read_ms is None:
                self._segments[-1].read_ms = frame.read_ms
            if border is not None and self._end is not None:
                self._end.extend(border, self._gtids, self._tracker.last)
                self._segments[-1].size_bytes = self._written_bytes
                self._gtids, self._flush_due = [], False
            if monotonic() - self._synced_at_s >= _SYNC_SECONDS:
                self._sync(file)

    def _writable(self) -> BinaryIO:
        """Return the open file for the next frame. Begins a new file if the last one is large
        enough and ends with a whole transaction.
        """
        segment, end = self._segments[-1], self.end
        if (
            segment.size_bytes == self._written_bytes >= self._segment_bytes
            and not segment.empty
            and end is not None
        ):
            return self._roll(end, segment.number + 1)
        if self._file is None:
            self._file = segment.path.open("r+b", buffering=0)
            self._file.seek(segment.size_bytes)
        return self._file

    def _roll(self, start: SourcePosition, number: int) -> BinaryIO:
        with disk_errors(self._folder):
            if self._file is not None:
                self._sync(self._file)
                self._file.close()
            segment, self._file = new_segment(self._folder, number, start)
        self._older_bytes += self._written_bytes
        self._segments.append(segment)
        self._written_bytes = segment.size_bytes
        return self._file

    def _sync(self, file: BinaryIO) -> None:
        os.fdatasync(file.fileno())
        self._synced_at_s = monotonic()


def _lies_before(coordinates: SourcePosition, published: SourcePosition) -> bool:
    return coordinates.identity.server == published.identity.server and rank(
        coordinates.binlog
    ) <= rank(published.binlog)

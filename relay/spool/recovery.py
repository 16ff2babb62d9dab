"""Finds the files of a spool that an earlier process left, up to the last complete and valid
transaction.
"""

from pathlib import Path
from typing import Final, NamedTuple

import structlog

from relay.model.change import Advance, TransactionEnd
from relay.model.records.last_transaction import LastTransactionTracker
from relay.spool.frames import read_frame
from relay.spool.items import items_of
from relay.spool.segment import Segment, found_segment, segment_paths
from relay.spool.stretch_end import StretchEnd

_log: Final = structlog.stdlib.get_logger(__name__)


class Recovered(NamedTuple):
    """The files of an earlier process. `end` is where their transactions end; None without files.
    `cut_bytes` is how many bytes were deleted, because they were incomplete or damaged, or because
    their file did not continue where the previous one ended.
    """

    segments: list[Segment]
    end: StretchEnd | None
    cut_bytes: int


def recovered(folder: Path) -> Recovered:
    """Return the consecutive files from the oldest on, and the end of their range. Other files are
    deleted. Raises OSError.

    Only the last file can have been open when the process died, so only that file is read here.
    Damage in another file is found when it is read.
    """
    segments: list[Segment] = []
    deleted_bytes = 0
    for path in segment_paths(folder):
        found = found_segment(path)
        if found is None or (segments and found.number != segments[-1].number + 1):
            _log.warning(
                "spool_file_deleted",
                file=str(path),
                reason="it does not continue where the previous one ends",
            )
            deleted_bytes += path.stat().st_size
            path.unlink()
        else:
            segments.append(found)
    if not segments:
        return Recovered(segments, None, deleted_bytes)
    before = segments[-1].size_bytes
    end = _cut(segments[-1])
    return Recovered(segments, end, deleted_bytes + before - segments[-1].size_bytes)


def _cut(segment: Segment) -> StretchEnd:
    """Cut the file after its last closed frame, and return where that ends."""
    end, sound_to = StretchEnd(segment.start), segment.frames_at
    border: TransactionEnd | Advance | None = None
    gtids: list[str] = []
    tracker = LastTransactionTracker()
    with segment.path.open("rb") as file:
        file.seek(segment.frames_at)
        while (frame := read_frame(file)) is not None:
            for item in items_of(frame.block):
                tracker.take(item)
                if isinstance(item, TransactionEnd | Advance):
                    border = item
                    gtids += [item.gtid] if isinstance(item, TransactionEnd) and item.gtid else []
            if frame.closed and border is not None:
                end.extend(border, gtids, tracker.last)
                sound_to, gtids = file.tell(), []
    if segment.size_bytes > sound_to:
        _log.warning(
            "spool_tail_cut", file=str(segment.path), cut_bytes=segment.size_bytes - sound_to
        )
        with segment.path.open("r+b") as writable:
            writable.truncate(sound_to)
        segment.size_bytes = sound_to
    return end

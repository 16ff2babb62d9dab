"""What an earlier process left of a spool: its files up to the last transaction that is whole and sound."""

from pathlib import Path
from typing import Final

import structlog

from relay.model.change import Advance, TransactionEnd
from relay.spool.frames import read_frame
from relay.spool.items import items_of
from relay.spool.segment import Segment, found_segment, segment_paths
from relay.spool.stretch_end import StretchEnd

_log: Final = structlog.stdlib.get_logger(__name__)


def recovered(folder: Path) -> tuple[list[Segment], StretchEnd | None]:
    """Return the files that follow one another from the oldest on, and where their stretch ends; others are deleted. Raises OSError.

    Only the last file can have been written when the process died, so it alone is read; damage in others shows when they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    segments: list[Segment] = []
    for path in segment_paths(folder):
        found = found_segment(path)
        if found is None or (segments and found.number != segments[-1].number + 1):
            _log.warning("spool_file_deleted", file=str(path), reason="it does not go on where the one before it ends")
            path.unlink()
        else:
            segments.append(found)
    return segments, _cut(segments[-1]) if segments else None


def _cut(segment: Segment) -> StretchEnd:
    """Cut the file behind its last closed frame, and say where that ends."""
    end, sound_to = StretchEnd(segment.start), segment.frames_at
    border: TransactionEnd | Advance | None = None
    gtids: list[str] = []
    with segment.path.open("rb") as file:
        file.seek(segment.frames_at)
        while (frame := read_frame(file)) is not None:
            for item in items_of(frame.block):
                if isinstance(item, TransactionEnd | Advance):
                    border = item
                    gtids += [item.gtid] if isinstance(item, TransactionEnd) and item.gtid else []
            if frame.closed and border is not None:
                end.move(border, gtids)
                sound_to, gtids = file.tell(), []
    if segment.size_bytes > sound_to:
        _log.warning("spool_tail_cut", file=str(segment.path), cut_bytes=segment.size_bytes - sound_to)
        with segment.path.open("r+b") as writable:
            writable.truncate(sound_to)
        segment.size_bytes = sound_to
    return end

"""Finds the position of a server's binlog at a time: the boundary before the first transaction that
was committed then or later.

The file is found by the times of the files' first events, with a binary search: among 200 files, it
opens 8 and reads one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from relay.errors import BinlogPurged
from relay.model.positions.position import BinlogPosition
from relay.settings import SourceSettings
from relay.source.positions.binlog_probe import border_before, file_created_s
from relay.source.protocol.server_facts import ServerFacts

_MILLISECONDS: Final = 1000
_OLDEST_REMEDY: Final = (
    'Set start.at = "oldest" (or name the oldest file) to begin with the oldest binlog '
    "of the source."
)


@dataclass(frozen=True, slots=True)
class TimedBoundary:
    """A boundary between two transactions, and the creation time of its file (Unix seconds)."""

    binlog: BinlogPosition
    file_created_s: int


def boundary_at_time(
    settings: SourceSettings, server: ServerFacts, files: Mapping[str, int], time_ms: int
) -> TimedBoundary:
    """Return the last boundary between transactions before `time_ms` (Unix milliseconds), in any of
    the binlog files.

    `files` maps names to sizes in bytes, oldest first. Raises BinlogPurged if the oldest file is
    newer than that time.
    """
    created: dict[str, int] = {}

    def created_s(file: str) -> int:
        if file not in created:
            created[file] = file_created_s(settings, server, file)
        return created[file]

    file = last_file_before(list(files), created_s, time_ms)
    if file is None:
        oldest = next(iter(files))
        reason = (
            f"The oldest binlog file of the source, {oldest}, was begun at {created[oldest]} (Unix "
            f"seconds), after the requested time."
        )
        raise BinlogPurged(reason, remedy=_OLDEST_REMEDY)
    return TimedBoundary(
        border_in_file(settings, server, file, files[file], time_ms), created[file]
    )


def border_in_file(
    settings: SourceSettings, server: ServerFacts, file: str, size_bytes: int, time_ms: int
) -> BinlogPosition:
    """Return the last boundary of one file before `time_ms` (Unix milliseconds).

    If all transactions are later, the boundary is the beginning of the file. If none is later, it
    is the end of the first `size_bytes` of the file.
    """
    return BinlogPosition(file, border_before(settings, server, file, size_bytes, time_ms))


def last_file_before(
    files: Sequence[str], created_s: Callable[[str], int], time_ms: int
) -> str | None:
    """Return the newest of `files` (oldest first) that certainly began before `time_ms`; None if
    even the oldest one was created in a later second.

    `created_s` returns the creation time of a file in whole seconds. A file that was created in the
    second of `time_ms` may have begun after `time_ms`, so it is returned only if it is the oldest.
    """
    time_s = time_ms // _MILLISECONDS
    low, high = 0, len(files)  # all below `low` are older, all from `high` on are not
    while low < high:
        middle = (low + high) // 2
        if created_s(files[middle]) < time_s:
            low = middle + 1
        else:
            high = middle
    if low:
        return files[low - 1]
    return files[0] if created_s(files[0]) == time_s else None

"""A segment: one file of a spool. It begins with a source position, and frames follow."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final

from relay.model.positions.position import (
    BinlogPosition,
    LastTransaction,
    SourceIdentity,
    SourcePosition,
)
from relay.spool.frames import Frame, frame_bytes, read_frame

_MAGIC: Final = b"romaspl1"  # the last character is the version of the file format
_SUFFIX: Final = ".spool"


@dataclass(slots=True)
class Segment:
    """One file of a spool.

    start       source position after which its items follow
    frames_at   offset of the first frame, in bytes
    size_bytes  offset of the end of its last closed frame; later bytes must not be read yet
    read_ms     when its first frame was read from the source, in Unix milliseconds; None without
                frames
    """

    path: Path
    start: SourcePosition
    frames_at: int
    size_bytes: int
    read_ms: int | None = None

    @property
    def number(self) -> int:
        """Return the number in the file's name; segments are read in its order."""
        return int(self.path.stem)

    @property
    def empty(self) -> bool:
        """Return True if the segment holds its header only."""
        return self.size_bytes == self.frames_at


def new_segment(folder: Path, number: int, start: SourcePosition) -> tuple[Segment, BinaryIO]:
    """Create a file for the items after `start`, and open it for writing. Raises OSError."""
    path = folder / f"{number:010d}{_SUFFIX}"
    file = path.open("wb", buffering=0)
    head = _MAGIC + frame_bytes(Frame(_start_bytes(start), 0, closed=True))
    file.write(head)
    os.fsync(file.fileno())
    folder_number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(folder_number)  # without this fsync, a power failure may remove the file's name
    finally:
        os.close(folder_number)
    return Segment(path, start, len(head), len(head)), file


def found_segment(path: Path) -> Segment | None:
    """Read the head of a file; None if it is not a spool file, or has an incomplete head.

    Raises OSError.
    """
    with path.open("rb") as file:
        if (
            file.read(len(_MAGIC)) != _MAGIC
            or (frame := read_frame(file)) is None
            or (start := _start(frame.block)) is None
        ):
            return None
        frames_at, first = file.tell(), read_frame(file)
        return Segment(
            path,
            start,
            frames_at,
            path.stat().st_size,
            first.read_ms if first is not None else None,
        )


def segment_paths(folder: Path) -> list[Path]:
    """Return the files of a spool's folder, oldest first."""
    return sorted(path for path in folder.glob(f"*{_SUFFIX}") if path.stem.isdecimal())


def _start_bytes(start: SourcePosition) -> bytes:
    identity = start.identity
    fields = {
        "file": start.binlog.file,
        "offset": start.binlog.offset,
        "gtid_set": start.gtid_set,
        "server_uuid": identity.server_uuid,
        "server_id": identity.server_id,
        "file_created_s": identity.file_created_s,
    }
    last = (
        {}
        if start.last is None
        else {"last": {**asdict(start.last), "begin": start.last.begin._asdict()}}
    )
    return json.dumps(fields | last).encode()


def _start(block: bytes) -> SourcePosition | None:
    try:
        fields = json.loads(block)
        identity = SourceIdentity(
            fields["server_uuid"], fields["server_id"], fields["file_created_s"]
        )
        last = fields.get("last")
        known = (
            None
            if last is None
            else LastTransaction(**{**last, "begin": BinlogPosition(**last["begin"])})
        )
        return SourcePosition(
            BinlogPosition(fields["file"], fields["offset"]), fields["gtid_set"], identity, known
        )
    except (ValueError, KeyError, TypeError):
        return None

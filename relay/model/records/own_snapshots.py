"""Copies of all tables that the relay requests itself: at the first start, and after an accepted
loss.

The number of the request is written into the position record, in the same Kafka transaction as the
position that makes the copy necessary. Later, any relay creates the request's document in ZooKeeper
from this number.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex
from typing import Final

from relay.model.records.snapshot_progress import SnapshotProgress

ALL_TABLES: Final = "*.*"
"""Tables of the relay's own requests: every published table."""


class OwnSnapshot(StrEnum):
    """Why the relay requests a copy. The value is the first word of the request's number."""

    INITIAL = "initial"
    """The instance starts for the first time."""
    NEEDED = "needed"
    """An operator accepted the loss of changes."""


def own_snapshots(why: OwnSnapshot, now_s: float) -> dict[str, SnapshotProgress]:
    """Return the progress of a new request by its number, for the position record. `now_s`: Unix
    seconds.
    """
    moment = datetime.fromtimestamp(now_s, UTC).strftime("%Y%m%d-%H%M%S")
    number = f"{why}-{moment}-{token_hex(2)}"
    return {number: SnapshotProgress()}


def why_own(number: str) -> OwnSnapshot | None:
    """Return why the relay made the request with this number; None for an operator's request."""
    first = number.partition("-")[0]
    return OwnSnapshot(first) if first in set(OwnSnapshot) else None


def unasked(snapshots: Mapping[str, SnapshotProgress]) -> list[str]:
    """Return the numbers of the relay's own requests that have no progress yet: ZooKeeper may have
    no document of them.

    A request with progress, or a paused one, certainly had a document. If that document is missing
    now, ZooKeeper was wiped, and an operator may have paused or cancelled the request.
    """
    untouched = SnapshotProgress()
    return [name for name, each in snapshots.items() if why_own(name) and each == untouched]


def noting_pauses(
    snapshots: Mapping[str, SnapshotProgress], paused: Collection[str]
) -> dict[str, SnapshotProgress]:
    """Return the progress with a mark on each of the relay's own requests that was paused before
    its first chunk.

    `paused`: the numbers of all requests that are paused now.
    """
    untouched = set(unasked(snapshots)) & set(paused)
    return {
        name: replace(each, paused=True) if name in untouched else each
        for name, each in snapshots.items()
    }

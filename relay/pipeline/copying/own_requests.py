"""Copies that the relay requests itself: when one is due, and the request that it makes."""

from collections.abc import Mapping
from time import time
from typing import Final

from relay.errors import VersionConflict
from relay.model.records.own_snapshots import (
    ALL_TABLES,
    OwnSnapshot,
    own_snapshots,
    unasked,
    why_own,
)
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.settings import InstanceSettings
from relay.state import SnapshotRequest, SnapshotStore

BY: Final = "relay"
_COMMENTS: Final = {
    OwnSnapshot.INITIAL: "The first start of the instance, by its setting `snapshot`.",
    OwnSnapshot.NEEDED: "Changes were lost, by the setting `snapshot`. The audit trail names them.",
}
DELETES_MISSED: Final = (
    "Rows that were deleted among the lost changes have no message: `roma reconcile` names them."
)
_MOST_NAMED: Final = 10
"""So many tables that were left out are named in the sentence of the end."""


def due(
    instance: InstanceSettings, *, first_start: bool, accepted_loss: bool
) -> dict[str, SnapshotProgress]:
    """Return the progress of a due copy for the next position record, {} if none is due.

    `first_start`: no record was ever committed. `accepted_loss`: the position passes changes that
    an operator gave up.
    """
    if first_start and instance.snapshot in ("initial", "when_needed"):
        return own_snapshots(OwnSnapshot.INITIAL, time())
    if accepted_loss and instance.snapshot == "when_needed":
        return own_snapshots(OwnSnapshot.NEEDED, time())
    return {}


def create_missing(
    store: SnapshotStore, instance: str, recorded: dict[str, SnapshotProgress]
) -> None:
    """Make the documents of own requests that the committed record names. Raises StoreUnreachable.

    Several relays may do so: the first one makes it.
    """
    for number in unasked(recorded):
        if store.find(instance, number) is None:
            try:
                store.create(own_request(number, instance))
            except VersionConflict:
                continue


def own_request(number: str, instance: str) -> SnapshotRequest:
    """Return the request that belongs to a number of the relay's own."""
    why = why_own(number) or OwnSnapshot.INITIAL
    return SnapshotRequest(
        number,
        instance,
        (ALL_TABLES,),
        by=BY,
        comment=_COMMENTS[why],
        created_ms=int(time() * 1000),
    )


def end_sentence(number: str, tables: int, refusals: Mapping[str, str]) -> str:
    """Return the sentence about a finished copy for its operator, "" if there is none.

    `refusals`: the tables that were left out, with the reason.
    """
    if not tables and not refusals:
        return "No table of this instance has such a name."
    told = [DELETES_MISSED] if why_own(number) is OwnSnapshot.NEEDED else []
    if refusals:
        named = [f"{name} ({reason})" for name, reason in sorted(refusals.items())]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        told.append(f"Not copied, or only in part: {'; '.join(named[:_MOST_NAMED])}{more}.")
    return " ".join(told)

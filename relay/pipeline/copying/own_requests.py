"""Copy requests that the relay makes itself (setting `snapshot`): decides when one is due, and
writes its document.
"""

from collections.abc import Mapping
from dataclasses import replace
from time import time
from typing import Final

import structlog

from relay.errors import NodeMissing, VersionConflict
from relay.model.records.own_snapshots import (
    ALL_TABLES,
    OwnSnapshot,
    noting_pauses,
    own_snapshots,
    unasked,
    why_own,
)
from relay.model.records.snapshot_progress import MOST_OTHER_KEYS, SnapshotProgress
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

_MOST_SHOWN: Final = 200
"""So many characters of a key are shown."""

_log = structlog.stdlib.get_logger(__name__)


def due(
    instance: InstanceSettings, *, first_start: bool, accepted_loss: bool
) -> dict[str, SnapshotProgress]:
    """Return the progress of a new copy request, if the relay must make one now; otherwise {}.

    The caller writes the progress into the next position record.

    instance       the settings of the instance
    first_start    True: the instance has never committed a record
    accepted_loss  True: an operator accepted the loss of changes
    """
    if first_start and instance.snapshot in ("initial", "when_needed"):
        return own_snapshots(OwnSnapshot.INITIAL, time())
    if accepted_loss and instance.snapshot == "when_needed":
        return own_snapshots(OwnSnapshot.NEEDED, time())
    return {}


def still_asked(
    recorded: Mapping[str, SnapshotProgress], requests: Mapping[str, SnapshotRequest]
) -> dict[str, SnapshotProgress]:
    """Return the recorded progress of the requests that have not ended. Paused requests of the
    relay itself are marked as paused.

    The result also has the progress of requests that ZooKeeper does not have, because ZooKeeper may
    have been wiped or restored.
    """
    kept = {
        name: each
        for name, each in recorded.items()
        if name not in requests or not requests[name].state.ended
    }
    return noting_pauses(kept, [name for name, each in requests.items() if each.is_paused])


def create_missing(
    store: SnapshotStore, instance: str, recorded: dict[str, SnapshotProgress]
) -> None:
    """Create the ZooKeeper documents of the relay's own requests that do not exist yet.

    store     the store of copy requests
    instance  name of the instance
    recorded  the progress of requests in the committed record

    If another relay has created a document meanwhile, that document stays. Raises StoreUnreachable.
    """
    for number in unasked(recorded):
        if store.find(instance, number) is None:
            try:
                store.create(own_request(number, instance))
            except VersionConflict:
                continue


def write_end(store: SnapshotStore, ended: SnapshotRequest) -> None:
    """Write to ZooKeeper that a request ended, with its state, reason and rows. Raises
    StoreUnreachable.
    """
    try:
        store.write(ended)
    except VersionConflict:
        current = store.find(ended.instance, ended.id)
        if current is not None and not current.state.ended:
            store.write(replace(current, state=ended.state, reason=ended.reason, rows=ended.rows))
    except NodeMissing:
        _log.warning("snapshot_request_lost", instance=ended.instance, request=ended.id)


def own_request(number: str, instance: str) -> SnapshotRequest:
    """Return the copy request that the relay makes itself under this number."""
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
    """Return a sentence about a finished copy for operators; "" if there is nothing to say.

    `tables` is the number of copied tables. `refusals` are the tables that were left out, with the
    reason.
    """
    if not tables and not refusals:
        return "No table of this instance has such a name."
    told = [DELETES_MISSED] if why_own(number) is OwnSnapshot.NEEDED else []
    if refusals:
        named = [f"{name} ({reason})" for name, reason in sorted(refusals.items())]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        told.append(f"Not copied, or only in part: {'; '.join(named[:_MOST_NAMED])}{more}.")
    return " ".join(told)


def sentence_of_keys(request: SnapshotRequest, progress: SnapshotProgress) -> str:
    """Return a sentence for operators if fewer rows were published than the ended request has keys,
    or if the keys of rows are spelled differently in the request; "" otherwise.
    """
    told = []
    if progress.rows < len(request.keys):
        told.append(
            f"Rows were published for {progress.rows} of {len(request.keys)} keys. For the other "
            "keys the source has no row, two keys name the same row, or a change published the "
            "row meanwhile."
        )
    if progress.other_keys:
        named = ", ".join(map(_shortened, progress.other_keys))
        more = " and perhaps others" if len(progress.other_keys) == MOST_OTHER_KEYS else ""
        told.append(
            "The request names rows in another spelling of their keys. The messages have the keys "
            f"that the source stores: {named}{more}. A row of a copy under the key of the request "
            "stays as it is: `roma reconcile --repair` removes it."
        )
    return " ".join(told)


def _shortened(key: str) -> str:
    return key if len(key) <= _MOST_SHOWN else f"{key[:_MOST_SHOWN]}…"

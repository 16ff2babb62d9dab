"""Endpoints for copies of tables into their topics. Each act is recorded in the audit trail."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.access import Caller
from api.deps import AdminDep, CallerDep, NoteDep
from api.listing import ListingDep
from api.models.position import ActPreview
from api.models.snapshot import RepairView, RepairWish, SnapshotView, SnapshotWish
from relay.operations import Who
from relay.state import Note, SnapshotRequest

router: Final = APIRouter(prefix="/api/v1/snapshots", tags=["snapshots"])

OneInstance = Annotated[str, Query(description="Only this instance; default: all.")]


@router.get("")
def read_snapshots(
    admin: AdminDep, caller: CallerDep, part: ListingDep, instance: OneInstance = ""
) -> list[SnapshotView]:
    """Return all copy requests with their progress, or those of one instance.

    Conditions, and errors that may quote them, are shown only to callers with the right `values`.
    """
    values = caller.sees_values
    return part.of(
        [SnapshotView.shown(each, values=values) for each in admin.snapshots.shown(instance)]
    )


@router.post("", status_code=202)
def start_snapshot(admin: AdminDep, wish: SnapshotWish, note: NoteDep) -> list[SnapshotView]:
    """Copy tables into their topics while the live stream continues. Each instance gets one
    request.

    A condition can test values that masks hide, so this requires the right `values`.
    """
    started = admin.snapshots.start(_who(note), wish.wanted(), wish.instances)
    return [SnapshotView.of(each, values=True) for each in started]


@router.post("/preview")
def preview_snapshot(admin: AdminDep, wish: SnapshotWish) -> ActPreview:
    """Return the effect of a copy in each instance. Nothing is changed, and no source is read."""
    return ActPreview(sentences=admin.repairs.preview_copy(wish.wanted(), wish.instances))


@router.post("/repair", status_code=202)
def repair_rows(admin: AdminDep, wish: RepairWish, note: NoteDep) -> RepairView:
    """Publish the present rows of keys again. A key without a row gets no message.

    You can repeat the call after a failure: keys whose copy is in progress get no second copy.
    """
    return admin.repairs.repair(wish, _who(note))


@router.post("/repair/preview")
def preview_repair(admin: AdminDep, wish: RepairWish) -> RepairView:
    """Return the effect of a repair. Nothing is changed."""
    return RepairView(sentences=admin.repairs.preview(wish))


@router.post("/{number}/pause")
def pause_snapshot(
    admin: AdminDep, caller: CallerDep, number: str, note: NoteDep, instance: OneInstance = ""
) -> list[SnapshotView]:
    """Pause a request until it is resumed."""
    return _views(caller, admin.snapshots.pause(_who(note), number, instance))


@router.post("/{number}/resume")
def resume_snapshot(
    admin: AdminDep, caller: CallerDep, number: str, note: NoteDep, instance: OneInstance = ""
) -> list[SnapshotView]:
    """Resume a paused request after its last published chunk."""
    return _views(caller, admin.snapshots.resume(_who(note), number, instance))


@router.post("/{number}/cancel")
def cancel_snapshot(
    admin: AdminDep, caller: CallerDep, number: str, note: NoteDep, instance: OneInstance = ""
) -> list[SnapshotView]:
    """Cancel a request. Rows that are already published remain.

    A request that ZooKeeper has lost can be cancelled too: the relay then removes its progress from
    the position record.
    """
    return _views(caller, admin.snapshots.cancel(_who(note), number, instance))


def _views(caller: Caller, requests: list[SnapshotRequest]) -> list[SnapshotView]:
    return [SnapshotView.of(each, values=caller.sees_values) for each in requests]


def _who(note: Note) -> Who:
    return Who(note.author, note.comment)

"""Endpoints to read, preview and move positions. Each act is recorded in the audit trail."""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api.deps import AdminDep, NoteDep
from api.models.position import (
    ActPreview,
    Floor,
    FloorWish,
    FoundPlace,
    Move,
    MovePreview,
    Place,
    PositionView,
    Repartitioning,
    RepartitionOrder,
    RepartitionView,
    Skip,
    SkipWish,
)
from relay.operations import Who
from relay.state import Note

router: Final = APIRouter(prefix="/api/v1/instances/{name}/position", tags=["positions"])


@router.get("")
def read_position(admin: AdminDep, name: str) -> PositionView:
    """Return the committed position of the instance, from Kafka."""
    return admin.positions.read(name)


@router.get("/search")
def search_place(
    admin: AdminDep,
    name: str,
    timestamp: Annotated[
        AwareDatetime, Query(description="A time with its zone, or Unix milliseconds.")
    ],
    file: Annotated[str | None, Query(description="Search only in this binlog file.")] = None,
    standby: Annotated[
        bool, Query(description="Search on the standby instead of the source.")
    ] = False,
    source: Annotated[
        str | None, Query(description="The source of a group that is searched.")
    ] = None,
) -> FoundPlace:
    """Return the last transaction boundary before a time. Nothing is changed."""
    return admin.positions.search(name, timestamp, file=file, standby=standby, source=source)


@router.post("/preview")
def preview_move(admin: AdminDep, name: str, to: Place) -> MovePreview:
    """Return the effect of a move without executing it."""
    return admin.positions.preview(name, to)


@router.post("")
def move_position(admin: AdminDep, name: str, to: Move, note: NoteDep) -> PositionView:
    """Move the position forward or back. The leading relay is fenced, and continues at the new
    position.
    """
    return admin.positions.reposition(name, to, _who(note))


@router.post("/skip")
def skip_transaction(admin: AdminDep, name: str, wish: Skip, note: NoteDep) -> PositionView:
    """Skip one future transaction."""
    return admin.positions.skip(name, wish, _who(note))


@router.post("/skip/preview")
def preview_skip(admin: AdminDep, name: str, wish: SkipWish) -> ActPreview:
    """Return the effect of skipping a future transaction, or of withdrawing that. Nothing is
    changed.
    """
    return ActPreview(sentences=admin.positions.preview_skip(name, wish))


@router.post("/raise-floor/preview")
def preview_floor(admin: AdminDep, name: str, wish: FloorWish) -> ActPreview:
    """Return the effect of raising the order keys above those of another instance. Nothing is
    changed.
    """
    return ActPreview(sentences=admin.positions.preview_floor(name, wish))


@router.post("/raise-floor")
def raise_floor(admin: AdminDep, name: str, floor: Floor, note: NoteDep) -> PositionView:
    """Raise the order keys of this instance's next rows above those of another instance.

    Do this before you move a shard from that instance to this one.
    """
    return admin.positions.raise_floor(name, floor, _who(note))


@router.post("/repartition/preview")
def preview_repartition(admin: AdminDep, name: str, wanted: Repartitioning) -> RepartitionView:
    """Return the effect on consumers if the rows of a topic were partitioned by the instance's
    present settings. Nothing is changed.
    """
    return admin.positions.plan_repartition(name, wanted)


@router.post("/repartition")
def repartition(
    admin: AdminDep, name: str, order: RepartitionOrder, note: NoteDep
) -> RepartitionView:
    """Partition the rows of a topic by the instance's present settings from now on."""
    return admin.positions.repartition(name, order, _who(note))


def _who(note: Note) -> Who:
    return Who(note.author, note.comment)

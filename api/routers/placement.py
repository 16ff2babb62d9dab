"""Endpoints for the placement of instances: assignments, moves, and servers in maintenance."""

from typing import Annotated, Final

from fastapi import APIRouter, Path

from api.deps import AdminDep, NoteDep
from api.listing import LastReadDep
from api.models.placement import MaintenancePreview, MoveRequest, PlacementView
from relay.settings import NAME_PATTERN

router: Final = APIRouter(prefix="/api/v1/placement", tags=["placement"])


@router.get("")
def read_placement(admin: AdminDep, last: LastReadDep) -> PlacementView:
    """Return for each instance the leading relay and the candidates, and the operators' orders.

    A candidate that cannot run the instance now has the reason.
    """
    return last.of(admin.placement.known())


@router.put("/moves/{instance}")
def move_instance(
    admin: AdminDep, instance: str, wanted: MoveRequest, note: NoteDep
) -> PlacementView:
    """Move an instance to a relay or server immediately.

    The instance stays there while that relay or server is able to run it, until the move is
    withdrawn.
    """
    admin.placement.hand_over(instance, wanted.to, note)
    return admin.placement.placement()


@router.delete("/moves/{instance}")
def withdraw_move(admin: AdminDep, instance: str, note: NoteDep) -> PlacementView:
    """Withdraw a move. The settings and the balance between relays then decide who runs the
    instance.
    """
    admin.placement.withdraw_hand_over(instance, note)
    return admin.placement.placement()


@router.put("/maintenance/{server}")
def drain_server(
    admin: AdminDep, server: Annotated[str, Path(pattern=NAME_PATTERN)], note: NoteDep
) -> PlacementView:
    """Put a server into maintenance.

    Its relays immediately hand over every instance that others can run, and accept none.
    """
    admin.placement.drain(server, note)
    return admin.placement.placement()


@router.post("/maintenance/{server}/preview")
def preview_maintenance(
    admin: AdminDep, server: Annotated[str, Path(pattern=NAME_PATTERN)]
) -> MaintenancePreview:
    """Return where each instance that the server leads would move. Nothing is changed."""
    return admin.placement.preview_maintenance(server)


@router.delete("/maintenance/{server}")
def end_maintenance(admin: AdminDep, server: str, note: NoteDep) -> PlacementView:
    """End a maintenance: the server's relays may run instances again."""
    admin.placement.end_maintenance(server, note)
    return admin.placement.placement()

"""Pause, resume and throttle of an instance. What is done stands in the audit trail."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep, NoteDep
from api.models.flow import FlowView, FlowWish
from relay.operations import Who
from relay.state import Note

router: Final = APIRouter(prefix="/api/v1/instances/{name}", tags=["flow"])


@router.get("/flow")
def read_flow(admin: AdminDep, name: str) -> FlowView:
    """Return what is asked of the instance."""
    return FlowView.of(admin.flow(name).show())


@router.put("/flow")
def set_flow(admin: AdminDep, name: str, wish: FlowWish, note: NoteDep) -> FlowView:
    """Pause it or let it go on, and set its limits; it follows while it runs."""
    return FlowView.of(
        admin.flow(name).set(_who(note), wish.paused, wish.rows_per_second, wish.bytes_per_second)
    )


@router.post("/pause")
def pause(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Let it stand still; its limits stay as they are."""
    return FlowView.of(admin.flow(name).pause(_who(note)))


@router.post("/resume")
def resume(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Let it go on; its limits stay as they are."""
    return FlowView.of(admin.flow(name).resume(_who(note)))


@router.post("/start", status_code=202)
def start(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Let a stopped instance try again with the settings that its relay has.

    A running one reads on from its committed position.
    """
    flow = admin.flow(name)
    flow.start(_who(note))
    return FlowView.of(flow.show())


def _who(note: Note) -> Who:
    return Who(note.author or "admin", note.comment)

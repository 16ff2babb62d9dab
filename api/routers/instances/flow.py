"""Endpoints to pause, resume, throttle and retire an instance. Each act is recorded in the audit
trail.
"""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep, NoteDep
from api.models.flow import FlowView, FlowWish, RetiredView
from relay.operations import Retirement, Who
from relay.state import Note

router: Final = APIRouter(prefix="/api/v1/instances/{name}", tags=["flow"])


@router.get("/flow")
def read_flow(admin: AdminDep, name: str) -> FlowView:
    """Return the pause and the limits that operators have set."""
    return FlowView.of(admin.flow(name).show())


@router.put("/flow")
def set_flow(admin: AdminDep, name: str, wish: FlowWish, note: NoteDep) -> FlowView:
    """Pause or resume the instance, and set its limits. The running instance applies the changes.

    Fields that the request does not name stay unchanged.
    """
    return FlowView.of(admin.flow(name).change(_who(note), wish.applied_to))


@router.post("/pause")
def pause(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Pause the instance; its limits are unchanged."""
    return FlowView.of(admin.flow(name).pause(_who(note)))


@router.post("/resume")
def resume(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Resume the instance; its limits are unchanged."""
    return FlowView.of(admin.flow(name).resume(_who(note)))


@router.post("/start", status_code=202)
def start(admin: AdminDep, name: str, note: NoteDep) -> FlowView:
    """Let a stopped instance try again with the present settings of its relay.

    A running instance begins again at its committed position.
    """
    flow = admin.flow(name)
    flow.start(_who(note))
    return FlowView.of(flow.show())


@router.get("/retire")
def read_retirement(admin: AdminDep, name: str) -> RetiredView:
    """Return the topics from which a retirement would remove the instance. Nothing is changed."""
    return RetiredView(topics=list(Retirement(admin.settings, name, admin.session).topics()))


@router.post("/retire")
def retire(admin: AdminDep, name: str, note: NoteDep) -> RetiredView:
    """Remove an instance that will never publish again from its topics.

    Mapping edits and other instances no longer wait for the instance.
    """
    retirement = Retirement(admin.settings, name, admin.session)
    return RetiredView(topics=list(retirement.carry_out(_who(note))))


def _who(note: Note) -> Who:
    return Who(note.author, note.comment)

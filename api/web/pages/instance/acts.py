"""Forms for operator acts on one instance. Each calls the same service as the REST endpoint."""

from functools import partial
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse

from api.deps import AdminDep
from api.errors import BadRequest
from api.models.mappings.instance_mapping import AcceptedMapping
from api.web.acts import check_confirmed, done, in_dialog, model_from, note_from, who_from
from api.web.forms import Form, FormDep
from api.web.pages.instance.page import instance_page

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}")


@router.post("/pause")
def pause(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Pause the instance."""
    with in_dialog(request, "pause", form, partial(instance_page, admin, name)):
        admin.flow(name).pause(who_from(request, form))
    return _back(name, "paused")


@router.post("/resume")
def resume(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Let the instance continue."""
    with in_dialog(request, "resume", form, partial(instance_page, admin, name)):
        admin.flow(name).resume(who_from(request, form))
    return _back(name, "resumed")


@router.post("/throttle")
def throttle(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Set the instance's rate limits. An empty field means the limit of the configuration file."""
    with in_dialog(request, "throttle", form, partial(instance_page, admin, name)):
        rows, size = _limit(form, "rows", "Rows"), _limit(form, "bytes", "Bytes")
        admin.flow(name).throttle(who_from(request, form), rows, size)
    return _back(name, "throttled")


@router.post("/start")
def start(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Order a stopped instance to try again, or a running one to begin again at its position."""
    with in_dialog(request, "start", form, partial(instance_page, admin, name)):
        admin.flow(name).start(who_from(request, form))
    return _back(name, "started")


@router.post("/move")
def move(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Move the instance to another relay or server."""
    with in_dialog(request, "move", form, partial(instance_page, admin, name)):
        if not form["to"]:
            raise BadRequest(
                "No relay is chosen.",
                remedy="Choose the relay or server that should run the instance.",
            )
        admin.placement.hand_over(name, form["to"], note_from(request, form))
    return _back(name, "moved")


@router.post("/withdraw-move")
def withdraw_move(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Withdraw the order to run the instance on another relay."""
    with in_dialog(request, "move", form, partial(instance_page, admin, name)):
        admin.placement.withdraw_hand_over(name, note_from(request, form))
    return _back(name, "move-withdrawn")


@router.post("/accept-mapping")
def accept_mapping(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Let the instance publish under the mapping set in ZooKeeper."""
    with in_dialog(request, "accept-mapping", form, partial(instance_page, admin, name)):
        check_confirmed(form, name)
        wanted = model_from(
            AcceptedMapping,
            confirm=form["confirm"].strip(),
            set=form.number("set", "Set"),
            digest=form["digest"],
        )
        admin.positions.accept_mapping(name, wanted, who_from(request, form))
    return _back(name, "mapping-accepted")


def _limit(form: Form, field: str, title: str) -> int | None:
    """Return a limit, None for an empty field. Raises BadRequest."""
    if not form[field].strip():
        return None
    limit = form.number(field, title)
    if limit < 0:
        raise BadRequest(f"{title} must not be negative, and is {limit}.")
    return limit


def _back(name: str, key: str) -> RedirectResponse:
    return done(f"../{quote(name, safe='')}", key)

"""The page to move an instance's position: first a preview, then the act."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from api.composition import Admin
from api.deps import AdminDep
from api.errors import BadRequest
from api.models.position import Move, MovePreview, Place
from api.web.acts import Shown, check_confirmed, done, in_dialog, model_from, who_from
from api.web.forms import FormDep
from api.web.views.unread import unread_part
from relay.errors import RelayError, Unreachable

router: Final = APIRouter(include_in_schema=False)


class Asked(BaseModel):
    """The fields of the form as typed. One of the first three names the target."""

    time: str = ""
    file: str = ""
    offset: str = ""
    gtid_set: str = ""
    source: str = ""
    as_new: bool = False


@router.get("/instances/{name}/reposition")
def show_reposition(
    request: Request, admin: AdminDep, name: str, asked: Annotated[Asked, Query()]
) -> HTMLResponse:
    """Show the form, and the effect of a move if a target is given. Nothing is changed."""
    return _page(admin, name, asked.model_dump()).render(request)


@router.post("/instances/{name}/reposition")
def reposition(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Move the instance's position to the target in the form."""
    asked = {
        "time": "",
        "file": form["file"],
        "offset": form["offset"],
        "gtid_set": "",
        "source": form["source"],
        "as_new": form.checked("as_new"),
    }
    with in_dialog(request, "confirm", form, partial(_page, admin, name, asked)):
        check_confirmed(form, name)
        reposition = model_from(Move, **_place_fields(asked), confirm=form["confirm"].strip())
        admin.positions.reposition(name, reposition, who_from(request, form))
    return done(f"../{quote(name, safe='')}", "repositioned")


def _page(admin: Admin, name: str, asked: Mapping[str, object]) -> Shown:
    """Return the page; an error of the preview is shown in its place. Raises NodeMissing."""
    instance = admin.directory.instance(name)
    preview: MovePreview | None = None
    problem: RelayError | None = None
    try:
        asked = _with_place(admin, name, asked)
        if asked["file"] or asked["gtid_set"]:
            preview = admin.positions.preview(name, model_from(Place, **_place_fields(asked)))
            asked = {**asked, "file": preview.file, "offset": str(preview.offset)}
    except RelayError as exc:
        problem = exc
    values: dict[str, object] = {
        "title": f"Reposition {name}",
        "name": name,
        "instance": instance,
        "asked": asked,
        "preview": preview,
        "problem": None if problem is None else unread_part(problem),
        "problem_is_silence": isinstance(problem, Unreachable),
    }
    return Shown("instance/reposition.html", values, "overview")


def _with_place(admin: Admin, name: str, asked: Mapping[str, object]) -> Mapping[str, object]:
    """Return the query with file and offset for its time, if it has one. Raises BadRequest."""
    text = str(asked["time"]).strip()
    if not text:
        return asked
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as exc:
        raise BadRequest(
            f"{text!r} is not a time.", remedy="Write the time as 2026-01-31T09:14:00, in UTC."
        ) from exc
    at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    source = str(asked["source"]) or None
    found = admin.positions.search(name, at, file=None, standby=False, source=source)
    return {**asked, "file": found.file, "offset": str(found.offset)}


def _place_fields(asked: Mapping[str, object]) -> dict[str, object]:
    return {
        "file": asked["file"] or None,
        "offset": str(asked["offset"]).replace(",", "").strip() or None,
        "gtid_set": str(asked["gtid_set"]).strip() or None,
        "source": asked["source"] or None,
        "as_new": asked["as_new"],
    }

"""The page to repair an instance's rows: keys or a report, the effect, and the request."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep
from api.models.snapshot import RepairWish
from api.web.acts import Shown, done, in_dialog, model_from, who_from
from api.web.forms import Form, FormDep
from relay.errors import RelayError

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/repair")
_FIELDS: Final = ("table", "keys", "report")


@router.get("")
def show_repair(
    request: Request,
    admin: AdminDep,
    name: str,
    table: Annotated[str, Query(max_length=300)] = "",
) -> HTMLResponse:
    """Show the form for keys or a report of `roma reconcile`, whose rows are published again."""
    return _page(admin, name, {"table": table, "keys": "", "report": ""}).render(request)


@router.post("/preview")
def preview_repair(request: Request, admin: AdminDep, name: str, form: FormDep) -> HTMLResponse:
    """Show the effect of a repair. Nothing is changed. Keys are in no URL."""
    return _page(admin, name, _asked(form), preview=True).render(request)


@router.post("")
def repair(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Publish the present rows of the named keys again."""
    asked = _asked(form)
    with in_dialog(request, "repair", form, partial(_page, admin, name, asked, preview=True)):
        admin.repairs.repair(_wish(name, asked), who_from(request, form))
    return done(f"../{quote(name, safe='')}/copies", "repair-requested")


def _page(admin: Admin, name: str, asked: Mapping[str, str], *, preview: bool = False) -> Shown:
    """Return the page; an error of the preview is shown in its place. Raises NodeMissing."""
    admin.directory.instance(name)
    sentences: list[str] = []
    can_start = False
    refused: RelayError | None = None
    try:
        if preview:
            wish = _wish(name, asked)
            sentences = admin.repairs.preview(wish)
            can_start = bool(wish.plan().wanted)
    except RelayError as exc:
        refused = exc
    values: dict[str, object] = {
        "title": f"Repair rows of {name}",
        "name": name,
        "asked": asked,
        "sentences": sentences,
        "can_start": can_start,
        "refused": refused,
    }
    return Shown("instance/repair.html", values, "overview")


def _asked(form: Form) -> dict[str, str]:
    return {field: form[field].strip() for field in _FIELDS}


def _wish(name: str, asked: Mapping[str, str]) -> RepairWish:
    """Return the request of a form. Raises BadRequest."""
    return model_from(
        RepairWish,
        table=asked["table"],
        keys=[each.strip() for each in asked["keys"].splitlines() if each.strip()],
        report=asked["report"] or None,
        instances=[name],
    )

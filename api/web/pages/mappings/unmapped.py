"""The page of unmapped tables of all instances."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.deps import AdminDep
from api.errors import BadRequest
from api.web.acts import done, note_from
from api.web.forms import FormDep
from api.web.pages.mappings.head import SECTION, head_values, unread_page
from api.web.rendering import render
from relay.errors import Unreachable

router: Final = APIRouter(include_in_schema=False)
_NAME_CHARACTERS: Final = 300


@router.get("/mappings/unmapped")
def show_unmapped(
    request: Request, admin: AdminDep, hidden: Annotated[bool, Query()] = False
) -> HTMLResponse:
    """Show the tables that no document lists, with a link that proposes an entry."""
    head = head_values(admin, "unmapped")
    try:
        notes = admin.mappings.hidden.known().value
        known = admin.mappings.unmapped.known()
    except Unreachable as exc:
        return unread_page(request, head, exc, "the unmapped tables")
    values = {
        **head,
        "known": known,
        "tables": [each for each in known.value if each.name not in notes],
        "notes": notes,
        "shows_hidden": hidden,
    }
    return render(request, "mappings/unmapped.html", values, section=SECTION)


@router.post("/mappings/unmapped/hide")
def hide_unmapped(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Hide a table from the list of unmapped tables."""
    name = form["name"].strip()
    if "." not in name or len(name) > _NAME_CHARACTERS:
        raise BadRequest(
            f"{name[:_NAME_CHARACTERS]!r} is not the name of a table. Write it as database.table."
        )
    admin.mappings.hidden.hide(name, note_from(request, form))
    return done("../unmapped", "table-hidden")


@router.post("/mappings/unmapped/unhide")
def unhide_unmapped(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Show a hidden table in the list of unmapped tables again."""
    admin.mappings.hidden.unhide(form["name"].strip(), note_from(request, form))
    return done("../unmapped", "table-unhidden")

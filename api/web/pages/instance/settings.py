"""The page of an instance's settings. Only those of an instance defined at run time can be
edited.
"""

import json
from functools import partial
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep
from api.entity_tag import Precondition, TagList
from api.errors import BadRequest
from api.middleware.request_body import json_of
from api.web.acts import Shown, check_confirmed, done, in_dialog, note_from
from api.web.forms import Form, FormDep
from relay.errors import NodeMissing
from relay.state import InstanceDocument, masked

router: Final = APIRouter(include_in_schema=False, prefix="/instance-settings")
_EXAMPLE: Final = {
    "source": {"host": "mysql2", "user": "relay", "password": "${ROMA_SECRET_NAME}"},
    "filter": {"filter_regex": "shop_.*\\..*"},
    "partition": {"partitions_num": 16},
}


@router.get("")
def show_settings(
    request: Request, admin: AdminDep, name: Annotated[str, Query(max_length=200)] = ""
) -> HTMLResponse:
    """Show the settings of an instance, or without a name the form of a new one."""
    return _page(admin, name.strip()).render(request)


@router.post("")
def save_settings(request: Request, admin: AdminDep, form: FormDep) -> RedirectResponse:
    """Add an instance, or change one that was defined at run time."""
    name, known = form["name"].strip(), form["known"].strip()
    with in_dialog(request, "save", form, partial(_page, admin, known)):
        if not name:
            raise BadRequest("The instance has no name.", remedy="Write a name.")
        fields = json_of(form["document"].encode())
        if not isinstance(fields, dict):
            raise BadRequest("The settings must be one JSON object.")
        admin.instances.save(name, fields, _precondition(form), note_from(request, form))
    return done(f"./instance-settings?name={quote(name, safe='')}", "instance-saved")


@router.post("/remove")
def remove_settings(request: Request, admin: AdminDep, form: FormDep) -> RedirectResponse:
    """Remove an instance that was defined at run time."""
    name = form["name"].strip()
    with in_dialog(request, "remove", form, partial(_page, admin, name)):
        check_confirmed(form, name)
        admin.instances.remove(name, _precondition(form), note_from(request, form))
    return done("../", "instance-removed")


def _precondition(form: Form) -> Precondition:
    """Return the condition that the document is still the one that the page showed."""
    state = form["state"].strip()
    if not state:
        return Precondition(if_none_match=TagList(frozenset(), any=True))
    return Precondition.of_state(state)


def _page(admin: Admin, name: str) -> Shown:
    """Return the page. Raises NodeMissing for an instance that is defined nowhere."""
    of_file = {each.name: each for each in admin.settings.instances}
    values: dict[str, object] = {"name": name, "state": "", "of_file": name in of_file}
    if not name:
        values |= {"title": "Add an instance", "document": _pretty(_EXAMPLE)}
    elif name in of_file:
        shown = of_file[name].model_dump(mode="json", exclude_defaults=True)
        values |= {"title": f"Settings of {name}", "document": _pretty(masked(shown))}
    else:
        document = _document(admin, name)
        values |= {
            "title": f"Settings of {name}",
            "document": None if document is None else _pretty(document.shown),
            "state": "" if document is None else document.state,
        }
    return Shown("instance/settings.html", values, "overview")


def _document(admin: Admin, name: str) -> InstanceDocument | None:
    """Return the document of an instance; None for one of another relay's file."""
    try:
        return admin.instances.read(name)
    except NodeMissing:
        admin.directory.instance(name)
        return None


def _pretty(fields: dict[str, object]) -> str:
    return json.dumps(fields, indent=2, ensure_ascii=False)

"""The page of running relays and candidates of instances, and the drain of a server."""

from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep
from api.models.placement import PlacementView
from api.readings import Reading
from api.web.acts import Shown, done, in_dialog, note_from
from api.web.forms import FormDep
from api.web.views import servers as view
from api.web.views.relay_names import RelayNames
from api.web.views.unread import Part, read_parts
from relay.settings import NAME_PATTERN

router: Final = APIRouter(include_in_schema=False)
_NO_PLACEMENT: Final = PlacementView(instances=[], moves=[], maintenance=[])


@router.get("/servers")
def show_servers(
    request: Request, admin: AdminDep, every: Annotated[bool, Query(alias="all")] = False
) -> HTMLResponse:
    """Show the servers, and which relay runs which instance. `every`: also a long list of
    instances.
    """
    return _servers(admin, every=every).render(request)


@router.get("/servers/{server}/maintenance")
def show_maintenance(
    request: Request, admin: AdminDep, server: Annotated[str, Path(pattern=NAME_PATTERN)]
) -> HTMLResponse:
    """Show where the server's instances would move. Nothing is changed."""
    return _maintenance(admin, server).render(request)


@router.post("/servers/{server}/maintenance")
def begin_maintenance(
    request: Request,
    admin: AdminDep,
    server: Annotated[str, Path(pattern=NAME_PATTERN)],
    form: FormDep,
) -> RedirectResponse:
    """Put the server into maintenance: its relays hand over their instances."""
    with in_dialog(request, "maintenance", form, partial(_maintenance, admin, server)):
        admin.placement.drain(server, note_from(request, form))
    return done("../../servers", "drained")


@router.post("/servers/{server}/end-maintenance")
def end_maintenance(
    request: Request, admin: AdminDep, server: str, form: FormDep
) -> RedirectResponse:
    """End the server's maintenance."""
    with in_dialog(request, "maintenance", form, partial(_servers, admin, every=False)):
        admin.placement.end_maintenance(server, note_from(request, form))
    return done("../../servers", "maintenance-ended")


def _servers(admin: Admin, *, every: bool) -> Shown:
    moment = admin.watch.present()
    words = "which relay leads and can run which instance, and the orders of operators"
    found = read_parts((Part("placement", words, admin.placement.known),))
    known: Reading[PlacementView] | None = found.values.get("placement")
    placement = _NO_PLACEMENT if known is None else known.value
    names = RelayNames.of(moment.relays)
    values: dict[str, object] = {
        "title": "Servers",
        "sentence": view.sentence(moment, placement),
        "moment": moment,
        "unread": found.unread,
        "known": known,
        "placement": placement,
        "rows": view.rows(moment, placement),
        "relays": list(map(names, sorted(each.name for each in moment.relays))),
        "matrix": view.matrix(moment, placement, every=every),
        "every": every,
    }
    return Shown("servers/page.html", values, "servers")


def _maintenance(admin: Admin, server: str) -> Shown:
    values: dict[str, object] = {
        "title": f"Drain {server}",
        "server": server,
        "preview": admin.placement.preview_maintenance(server),
    }
    return Shown("servers/maintenance.html", values, "servers")

"""The page that finds a real table's route, the tables of a topic, and instances and servers by
name.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.deps import AdminDep
from api.services.mappings.logical_tables import LogicalTable
from api.services.mappings.route_finder import FoundRoute
from api.web.rendering import render
from relay.model.table import TableId

router: Final = APIRouter(include_in_schema=False)
_MOST_FOUND: Final = 200
_NAME: Final = 64


@router.get("/routes")
def show_routes(
    request: Request, admin: AdminDep, q: Annotated[str, Query(max_length=300)] = ""
) -> HTMLResponse:
    """Show what has the name `q`: a real table, a topic, a logical table, a tag, an instance or a
    server.
    """
    asked = q.strip()
    needle = asked.lower()
    instances = [each for each in admin.directory.instances() if needle in each.name.lower()]
    servers = {each.server or each.host for each in admin.directory.relays()}
    feeding = _feeding(admin, asked) if asked else []
    found = _routes(admin, asked)
    passing = [each for each in found if not each.view.filtered]
    values = {
        "title": "Route finder",
        "q": asked,
        "routes": passing or found[:1],
        "filtered_by": [
            each.view.instance for each in found if passing and each.view.filtered and each.met
        ],
        "feeding": feeding[:_MOST_FOUND],
        "more": max(0, len(feeding) - _MOST_FOUND),
        "instances": instances if asked else [],
        "servers": sorted(each for each in servers if asked and needle in each.lower()),
    }
    return render(request, "routes.html", values, section="routes")


def _routes(admin: Admin, asked: str) -> list[FoundRoute]:
    database, dot, table = asked.partition(".")
    if not dot or ":" in asked or not 0 < len(database) <= _NAME or not 0 < len(table) <= _NAME:
        return []
    return admin.mappings.finder.routes(TableId(database, table))


def _feeding(admin: Admin, asked: str) -> list[LogicalTable]:
    kind, colon, name = asked.partition(":")
    name = name.strip()
    if colon and name and kind in ("topic", "logical", "tag"):
        return admin.mappings.finder.feeding(**{kind: name})
    return admin.mappings.finder.named(asked)

"""Endpoints that return the routes of real tables."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep
from api.listing import ListingDep
from api.models.mappings.logical_mapping import LogicalTableView
from api.models.mappings.route import MatchingRuleView, RouteView
from api.services.mappings.logical_view import table_view
from relay.model.table import TableId

router: Final = APIRouter(prefix="/api/v1/route", tags=["route"])

_Name = Annotated[str, Query(min_length=1, max_length=64)]
_Asked = Annotated[str, Query(max_length=300)]


@router.get("")
def route_of(
    admin: AdminDep, database: _Name, table: _Name, instance: Annotated[str | None, Query()] = None
) -> RouteView:
    """Return the route of a real table under the active set, and the entries that decide it.

    `instance` is required if instances route the table's name differently.
    """
    real = TableId(database, table)
    found = admin.mappings.route.of(real, instance)
    rules = [
        MatchingRuleView(data_id=each.data_id, pointer=each.pointer, line=each.line, rule=each.rule)
        for each in ([] if found.filtered else admin.mappings.finder.rules(real))
    ]
    return found.model_copy(update={"rules": rules})


@router.get("/reverse")
def reverse_route(
    admin: AdminDep, part: ListingDep, topic: _Asked = "", logical: _Asked = "", tag: _Asked = ""
) -> list[LogicalTableView]:
    """Return the logical tables that are routed to a topic, have a name, or have a tag.

    Give exactly one of the parameters `topic`, `logical` and `tag`.
    """
    return part.of(
        [table_view(each) for each in admin.mappings.finder.feeding(topic, logical, tag)]
    )

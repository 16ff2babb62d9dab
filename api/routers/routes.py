"""Where a real table goes."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep
from api.models.route import RouteView
from relay.model.table import TableId

router: Final = APIRouter(prefix="/api/v1/route", tags=["route"])

_Name = Annotated[str, Query(min_length=1, max_length=64)]


@router.get("")
def route_of(
    admin: AdminDep, database: _Name, table: _Name, instance: Annotated[str | None, Query()] = None
) -> RouteView:
    """Say where a real table goes under the set in force.

    `instance` is needed where the instances treat names differently.
    """
    return admin.route.of(TableId(database, table), instance)

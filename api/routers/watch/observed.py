"""Endpoints for problems that need an operator, and for metrics and states over time."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep
from api.listing import LastReadDep, ListingDep
from api.models.failover import FailoverAnswer
from api.models.watch.groups import InstanceGroupView
from api.models.watch.needs import NeedsView
from api.models.watch.series import SeriesView, SparksView, StatesView
from api.readings import Reading
from api.services.watch import (
    Grouping,
    Metric,
    Range,
    Selection,
    grouped,
    needs_view,
    selected,
    series_view,
    sparks_view,
    states_view,
)

router: Final = APIRouter(prefix="/api/v1", tags=["watch"])


@router.get("/needs-you")
def read_needs(admin: AdminDep) -> NeedsView:
    """Return the problems that need an operator, the most urgent first."""
    return needs_view(admin.watch)


@router.get("/series")
def read_sparks(admin: AdminDep) -> SparksView:
    """Return rows per second and lag of every instance during the last hour, in 24 steps."""
    return sparks_view(admin.charts)


@router.get("/instance-groups")
def list_groups(
    admin: AdminDep,
    part: ListingDep,
    last: LastReadDep,
    by: Annotated[Grouping, Query(description="Empty: all are one group.")] = "state",
) -> list[InstanceGroupView]:
    """Return the instances in groups with the most urgent state of each, the most urgent group
    first.
    """
    moment = admin.watch.moment()
    facts = last.of(Reading(moment.facts.values(), moment.read_ms, moment.error))
    servers = {each.name: each.server for each in moment.relays}
    return part.of(
        [
            InstanceGroupView(
                name=each.key,
                instances=[facts.view.name for facts in each.facts],
                count=len(each.facts),
                worst=each.worst,
                worst_count=each.worst_count,
            )
            for each in grouped(selected(facts, {}, Selection()), by, servers)
        ]
    )


@router.get("/failover", tags=["failover"])
def list_failover(admin: AdminDep, part: ListingDep, last: LastReadDep) -> list[FailoverAnswer]:
    """Return the servers, the operators' orders and the completed switches of every instance."""
    found = last.of(admin.failover.known())
    return part.of(found)


@router.get("/instances/{name}/series")
def read_series(
    admin: AdminDep,
    name: str,
    metric: Annotated[Metric, Query(description="Rows per second, or lag in seconds.")] = "rows",
    span: Annotated[Range, Query(alias="range", description="How far back.")] = "1h",
) -> SeriesView:
    """Return one metric of an instance over time.

    The values are from Prometheus if `prometheus_url` is set. Otherwise they are from the admin,
    which keeps those of the last week, but none from before its start.
    """
    return series_view(admin.charts, name, metric, span)


@router.get("/instances/{name}/states")
def read_states(
    admin: AdminDep,
    name: str,
    span: Annotated[Range, Query(alias="range", description="How far back.")] = "24h",
) -> StatesView:
    """Return the states of the instance within a range of time, the oldest first."""
    return states_view(admin.watch, name, span)

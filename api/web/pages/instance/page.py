"""The page of one instance: its present state, its history, and its acts."""

from contextlib import suppress
from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.deps import AdminDep
from api.errors import NoSuchThing
from api.models.flow import FlowView
from api.models.instance import table_rates
from api.models.mappings.instance_mapping import MappingComparisonView
from api.models.placement import InstancePlaceView
from api.models.watch.series import SeriesView
from api.services.watch import Facts, Range, series_view, states_view
from api.services.watch.facts import held_back_by, missing_files, unmapped_name
from api.web import words
from api.web.acts import Shown
from api.web.views import instance as view
from api.web.views.figures.chart import Chart, chart
from api.web.views.figures.timeline import timeline
from api.web.views.relay_names import RelayNames
from api.web.views.unread import Part, read_parts
from relay.errors import NodeMissing

router: Final = APIRouter(include_in_schema=False)
_RANGES: Final[tuple[tuple[Range, str], ...]] = (
    ("1h", "1 h"),
    ("6h", "6 h"),
    ("24h", "24 h"),
    ("7d", "7 d"),
)
_LOST: Final = "MAPPING_LOST"
_RATES: Final = 20
"""Number of the busiest tables on the page."""


@router.get("/instances/{name}")
def show_instance(
    request: Request,
    admin: AdminDep,
    name: str,
    span: Annotated[str, Query(alias="range")] = "1h",
) -> HTMLResponse:
    """Show one instance, with its history over the requested range."""
    return instance_page(admin, name, span).render(request)


def instance_page(admin: Admin, name: str, span: str = "1h") -> Shown:
    """Return the page of an instance; `span` is the range of its charts. Raises NodeMissing."""
    moment = admin.watch.moment()
    facts = moment.facts.get(name)
    if facts is None:
        raise NodeMissing(f"There is no instance {name!r}.")
    names = RelayNames.of(moment.relays)
    wanted: Range = next((each for each in get_args(Range) if each == span), "1h")
    values: dict[str, object] = {
        "title": name,
        "name": name,
        "moment": moment,
        "facts": facts,
        "sentence": view.sentence(facts, moment.addresses.get(name, ""), names, moment.read_ms),
        "relay_names": names,
        "figures": view.figures(facts, admin.watch.lag_limit_s, moment.read_ms),
        "left_out": view.left_out(facts),
        "range": wanted,
        "ranges": _RANGES,
        "timeline": timeline(states_view(admin.watch, name, "24h")),
        "lag_limit_s": admin.watch.lag_limit_s,
        "rates": table_rates(facts.view)[:_RATES],
        "held_back": held_back_by(facts.view),
        "unmapped": unmapped_name(facts.view),
        "missing_files": missing_files(facts.view),
        **_charts(admin, name, wanted),
        **_standing(admin, name, facts),
    }
    return Shown("instance/page.html", values, "overview")


def _charts(admin: Admin, name: str, span: Range) -> dict[str, object]:
    rows = series_view(admin.charts, name, "rows", span)
    lag = series_view(admin.charts, name, "lag", span)
    return {
        "charts_problem": rows.problem or lag.problem,
        "rows": _chart("Rows per second", rows),
        "lag": _chart("Lag", lag, seconds=True),
    }


def _chart(title: str, series: SeriesView, *, seconds: bool = False) -> Chart:
    text = words.duration if seconds else words.number
    return chart(title, series.values, series.from_ms, series.step_seconds, text)


def _standing(admin: Admin, name: str, facts: Facts) -> dict[str, object]:
    """Return further facts; a part that cannot be read now is None, and `unread` says why."""
    found = read_parts(
        (
            Part("failover", "the servers of the source", lambda: admin.failover.show(name)),
            Part("dropped", "the tables left out", lambda: admin.directory.dropped(name)[:20]),
            Part("place", "where it may run", lambda: _place(admin, name)),
            Part("flow", "pause and limits", lambda: _flow(admin, name)),
            Part("comparison", "the mapping sets", lambda: _comparison(admin, name, facts)),
        )
    )
    nothing = dict.fromkeys(("failover", "dropped", "place", "flow", "comparison"))
    return {**nothing, **found.values, "unread": found.unread}


def _flow(admin: Admin, name: str) -> FlowView | None:
    """Return the wanted flow; None for an instance of another relay's file."""
    with suppress(NoSuchThing):
        return FlowView.of(admin.flow(name).show())
    return None


def _place(admin: Admin, name: str) -> InstancePlaceView | None:
    every = admin.placement.placement().instances
    return next((each for each in every if each.instance == name), None)


def _comparison(admin: Admin, name: str, facts: Facts) -> MappingComparisonView | None:
    """Return the difference between two mapping sets, if an operator must accept it."""
    return admin.positions.compare_mapping(name) if facts.view.code == _LOST else None

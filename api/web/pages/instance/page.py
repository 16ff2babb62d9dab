"""What one instance does, did, and can be asked for."""

from contextlib import suppress
from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.deps import AdminDep
from api.errors import NoSuchThing
from api.models.flow import FlowView
from api.models.mappings.instance_mapping import MappingComparisonView
from api.models.placement import InstancePlaceView
from api.models.watch.series import SeriesView
from api.services.watch import Facts, Range, series_view, states_view
from api.web import words
from api.web.acts import Shown
from api.web.views import instance as view
from api.web.views.chart import Chart, chart
from api.web.views.timeline import timeline
from relay.errors import NodeMissing, RelayError

router: Final = APIRouter(include_in_schema=False)
_RANGES: Final[tuple[tuple[Range, str], ...]] = (
    ("1h", "1 h"),
    ("6h", "6 h"),
    ("24h", "24 h"),
    ("7d", "7 d"),
)
_LOST: Final = "MAPPING_LOST"


@router.get("/instances/{name}")
def show_instance(
    request: Request,
    admin: AdminDep,
    name: str,
    span: Annotated[str, Query(alias="range")] = "1h",
) -> HTMLResponse:
    """Show one instance."""
    return instance_page(admin, name, span).render(request)


def instance_page(admin: Admin, name: str, span: str = "1h") -> Shown:
    """Return the page of an instance. Raises NodeMissing."""
    moment = admin.watch.moment()
    facts = moment.facts.get(name)
    if facts is None:
        raise NodeMissing(f"There is no instance {name!r}.")
    wanted: Range = next((each for each in get_args(Range) if each == span), "1h")
    values: dict[str, object] = {
        "title": name,
        "name": name,
        "moment": moment,
        "facts": facts,
        "sentence": view.sentence(facts, moment.addresses.get(name, ""), moment.read_ms),
        "figures": view.figures(facts, admin.watch.lag_limit_s, moment.read_ms),
        "left_out": view.left_out(facts),
        "range": wanted,
        "ranges": _RANGES,
        "timeline": timeline(states_view(admin.watch, name, "24h")),
        "lag_limit_s": admin.watch.lag_limit_s,
        **_charts(admin, name, wanted),
        **_standing(admin, name, facts),
    }
    return Shown("instance/page.html", values, "overview")


def _charts(admin: Admin, name: str, span: Range) -> dict[str, Chart]:
    rows = series_view(admin.watch, name, "rows", span)
    lag = series_view(admin.watch, name, "lag", span)
    return {
        "rows": _chart("Rows per second", rows),
        "lag": _chart("Lag", lag, seconds=True),
    }


def _chart(title: str, series: SeriesView, *, seconds: bool = False) -> Chart:
    text = words.duration if seconds else words.number
    return chart(title, series.values, series.from_ms, series.step_seconds, text)


def _standing(admin: Admin, name: str, facts: Facts) -> dict[str, object]:
    """Return what else is known; a part that cannot be read now is None."""
    found: dict[str, object] = {
        "flow": None,
        "failover": None,
        "place": None,
        "dropped": [],
        "comparison": None,
        "unread": "",
    }
    try:
        found["failover"] = admin.failover.show(name)
        found["dropped"] = admin.directory.dropped(name)[:20]
        found["place"] = _place(admin, name)
        with suppress(NoSuchThing):  # an instance of another relay's file
            found["flow"] = FlowView.of(admin.flow(name).show())
        found["comparison"] = _comparison(admin, name, facts)
    except RelayError as exc:
        found["unread"] = exc.reason
    return found


def _place(admin: Admin, name: str) -> InstancePlaceView | None:
    every = admin.placement.placement().instances
    return next((each for each in every if each.instance == name), None)


def _comparison(admin: Admin, name: str, facts: Facts) -> MappingComparisonView | None:
    """Return what differs between two mapping sets, where an operator must accept it."""
    return admin.positions.compare_mapping(name) if facts.view.code == _LOST else None

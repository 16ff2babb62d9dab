"""The page of the overview: problems that need an operator, then every instance."""

from collections.abc import Iterable
from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.services.watch import SORTS, Grouping, Selection, Sort
from api.web.rendering import render
from api.web.views import overview
from api.web.views.overview import Asked

router: Final = APIRouter(include_in_schema=False)


@router.get("/")
def show_overview(
    request: Request,
    admin: AdminDep,
    words: Annotated[str, Query(alias="filter")] = "",
    state: str = "",
    group: str = "",
    sort: str = "state",
    opened: Annotated[list[str] | None, Query(alias="open", max_length=100)] = None,
) -> HTMLResponse:
    """Show the problems that need an operator, and the instances that match the filters."""
    watch = admin.watch
    moment, asked = watch.moment(), _asked(words, state, group, sort, opened or ())
    charted = admin.charts.sparks("rows")
    sparks = {name: each.values for name, each in charted.series.items()}
    found = overview.groups(moment, sparks, asked, watch.lag_limit_s)
    values: dict[str, object] = {
        "title": "Overview",
        "sentence": overview.sentence(moment),
        "moment": moment,
        "charts_problem": charted.problem,
        "asked": asked,
        "chips": overview.chips(moment, asked),
        "columns": overview.columns(asked),
        "groups": found,
        "shown": sum(each.size for each in found),
        "folded": any(each.folded for each in found),
    }
    return render(request, "overview.html", values, section="overview")


def _asked(words: str, state: str, group: str, sort: str, opened: Iterable[str]) -> Asked:
    """Read the query; a value that does not exist counts as not given."""
    column: Sort = next((each for each in SORTS if each == sort.removeprefix("-")), "state")
    grouping: Grouping = next((each for each in get_args(Grouping) if each == group), "")
    return Asked(
        Selection(words.strip(), state, column, down=sort.startswith("-")),
        grouping,
        frozenset(opened),
    )

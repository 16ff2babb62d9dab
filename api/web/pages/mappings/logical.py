"""The page of the logical view: databases, shards, topics and tags of the active set."""

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.models.mappings.logical_mapping import Grouping
from api.services.mappings.logical.table_groups import Part
from api.web.pages.mappings.head import SECTION, head_values, unread_page
from api.web.rendering import render
from api.web.views.mappings import summary, table_groups
from relay.errors import Unreachable

router: Final = APIRouter(include_in_schema=False)
PAGE_TABLES: Final = 500
"""Largest number of tables on one page."""


@router.get("/mappings")
def show_logical(
    request: Request,
    admin: AdminDep,
    by: Grouping = "db",
    text: Annotated[str, Query(alias="filter", max_length=200)] = "",
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> HTMLResponse:
    """Show the active set, grouped by logical database, topic or instance."""
    head = head_values(admin, "logical")
    part = Part(tuple(text.lower().split()), PAGE_TABLES, offset)
    try:
        known = admin.mappings.logical.known_page(by, part)
    except Unreachable as exc:
        return unread_page(request, head, exc, "the tables of the set")
    found = known.value
    values = {
        **head,
        "known": known,
        "view": found.view,
        "text": text,
        "summary": summary(found),
        "panels": table_groups(found.view),
        "entries": found.entries,
        "first": offset + 1,
        "last": min(offset + PAGE_TABLES, found.entries),
        "before": _address(by, text, max(0, offset - PAGE_TABLES)) if offset else "",
        "after": _address(by, text, offset + PAGE_TABLES)
        if offset + PAGE_TABLES < found.entries
        else "",
    }
    return render(request, "mappings/logical.html", values, section=SECTION)


def _address(by: Grouping, text: str, offset: int) -> str:
    """Return the query of another page of the same view."""
    asked = {"by": by, "filter": text, "offset": offset or ""}
    return urlencode({name: each for name, each in asked.items() if each})

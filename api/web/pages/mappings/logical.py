"""The logical view: databases, shards, topics and tags of the active set."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.models.mappings.logical_mapping import Grouping
from api.web.pages.mappings.head import SECTION, head_values
from api.web.rendering import render
from api.web.views.mappings import summary, table_groups

router: Final = APIRouter(include_in_schema=False)


@router.get("/mappings")
def show_logical(
    request: Request,
    admin: AdminDep,
    by: Grouping = "db",
    text: Annotated[str, Query(alias="filter", max_length=200)] = "",
) -> HTMLResponse:
    """Show the active set in groups."""
    view = admin.logical.view(by)
    values = {
        **head_values(admin, "logical"),
        "view": view,
        "text": text,
        "summary": summary(view),
        "panels": table_groups(view, text),
    }
    return render(request, "mappings/logical.html", values, section=SECTION)

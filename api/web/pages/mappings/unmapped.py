"""Unmapped tables of all instances."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.web.pages.mappings.head import SECTION, head_values
from api.web.rendering import render

router: Final = APIRouter(include_in_schema=False)


@router.get("/mappings/unmapped")
def show_unmapped(request: Request, admin: AdminDep) -> HTMLResponse:
    """Show the tables that no document lists, with a link that proposes an entry."""
    values = {**head_values(admin, "unmapped"), "tables": admin.unmapped.listed()}
    return render(request, "mappings/unmapped.html", values, section=SECTION)

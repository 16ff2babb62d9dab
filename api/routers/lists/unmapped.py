"""Endpoints for real tables that no mapping document lists."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep, NoteDep
from api.listing import LastReadDep, ListingDep
from api.models.mappings.unmapped import HiddenTableView, UnmappedView

router: Final = APIRouter(prefix="/api/v1/unmapped", tags=["mapping sets"])
_TableName = Annotated[
    str,
    Query(
        alias="table",
        max_length=300,
        pattern=r"^[^.\x00-\x1f]+\.[^\x00-\x1f]+$",
        description="Real table.",
        examples=["crm_01._lead_gho"],
    ),
]


@router.get("")
def list_unmapped(
    admin: AdminDep,
    part: ListingDep,
    last: LastReadDep,
    hidden: Annotated[bool, Query(description="Also list the tables that are hidden.")] = False,
) -> list[UnmappedView]:
    """Return the real tables that no document lists, although an instance received rows of them."""
    left_out = {} if hidden else last.of(admin.mappings.hidden.known())
    found = last.of(admin.mappings.unmapped.known())
    return part.of([each for each in found if each.name not in left_out])


@router.get("/hidden")
def list_hidden(admin: AdminDep, part: ListingDep, last: LastReadDep) -> list[HiddenTableView]:
    """Return the tables that are hidden from the list, including those that have since been
    mapped.
    """
    return part.of(
        [
            HiddenTableView(
                name=name, author=note.author, comment=note.comment, hidden_ms=note.saved_ms
            )
            for name, note in last.of(admin.mappings.hidden.known()).items()
        ]
    )


@router.put("/hidden", status_code=204)
def hide_table(admin: AdminDep, name: _TableName, note: NoteDep) -> None:
    """Hide a table from the list. Its rows are still dropped and counted as before."""
    admin.mappings.hidden.hide(name, note)


@router.delete("/hidden", status_code=204)
def unhide_table(admin: AdminDep, name: _TableName, note: NoteDep) -> None:
    """Show a hidden table in the list again."""
    admin.mappings.hidden.unhide(name, note)

"""Endpoint that lists the dead letters of all instances; only readers with the right `values` see
the keys of rows.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep, CallerDep
from api.listing import ListingDep
from api.models.dead_letter import ListedLetterView

router: Final = APIRouter(prefix="/api/v1/dead-letters", tags=["dead letters"])


@router.get("")
def list_all_dead_letters(
    admin: AdminDep,
    caller: CallerDep,
    part: ListingDep,
    instance: Annotated[str, Query(max_length=200)] = "",
) -> list[ListedLetterView]:
    """Return the dead letters of all instances or of one: damaged ones, then the others, the
    newest first. Only callers with the right `values` see keys.
    """
    return part.of(admin.letters.listed(instance, values=caller.sees_values))

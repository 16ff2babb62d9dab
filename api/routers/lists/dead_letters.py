"""Dead letters of all instances. They hold keys of rows, so the list needs the right `values`."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep
from api.listing import ListingDep
from api.models.dead_letter import ListedLetterView

router: Final = APIRouter(prefix="/api/v1/dead-letters", tags=["dead letters"])


@router.get("")
def list_all_dead_letters(
    admin: AdminDep, part: ListingDep, instance: Annotated[str, Query(max_length=200)] = ""
) -> list[ListedLetterView]:
    """Return the dead letters of all instances or of one, the newest first."""
    return part.of(admin.letters.listed(instance))

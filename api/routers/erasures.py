"""Endpoints to search a person's data in every store, and to erase what was found."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep, CallerDep, NoteDep
from api.listing import ListingDep
from api.models.values.erasure import ErasureOrder, ErasureView, ErasureWish
from relay.operations import ErasureChoice, Who

router: Final = APIRouter(prefix="/api/v1/erasures", tags=["erasures"])

_DELETE: Final = "Show the effect of `delete_records`."
_TEXT: Final = "Show the effect of `by_text`."


@router.get("")
def list_erasures(admin: AdminDep, part: ListingDep) -> list[ErasureView]:
    """Return the searches and erasures of this admin process, the newest first."""
    return part.of(admin.erasures.shown())


@router.post("", status_code=202)
def look_for_person(admin: AdminDep, caller: CallerDep, wish: ErasureWish) -> ErasureView:
    """Start a search of every store for keys and texts. Nothing is changed.

    It may take minutes: read the search again until its state is `found` or `failed`. Only one
    search runs at a time.
    """
    return admin.erasures.search(wish, caller.name)


@router.get("/{number}")
def read_erasure(
    admin: AdminDep,
    number: str,
    delete_records: Annotated[bool, Query(description=_DELETE)] = False,
    by_text: Annotated[bool, Query(description=_TEXT)] = False,
) -> ErasureView:
    """Return one search: what it found, and the progress of the erasure."""
    return admin.erasures.show(number, ErasureChoice(delete_records, by_text))


@router.post("/{number}/erase", status_code=202)
def erase_person(admin: AdminDep, number: str, order: ErasureOrder, note: NoteDep) -> ErasureView:
    """Erase what a search has found, as `roma erase` does.

    The audit entry `person.erased` is written first.
    """
    return admin.erasures.erase(number, order, Who(note.author, note.comment))


@router.delete("/{number}", status_code=204)
def forget_erasure(admin: AdminDep, number: str) -> None:
    """Delete a search together with its keys and texts. Nothing in the stores is changed."""
    admin.erasures.forget(number)

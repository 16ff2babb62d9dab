"""The page of the sets' history: list, difference of two sets, effects of a save, and rollback."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.composition import Admin
from api.deps import AdminDep
from api.entity_tag import Precondition, TagList
from api.errors import PreconditionFailed
from api.models.problem import MappingProblemView
from api.services.mappings.mapping_editor import Trial
from api.services.mappings.merge.text_diff import document_diffs
from api.web.acts import done, note_from
from api.web.forms import FormDep
from api.web.pages.mappings.head import SECTION, head_values, unread_page
from api.web.rendering import render
from api.web.views.unread import unread_part
from relay.errors import Unreachable, VersionConflict
from relay.state import SetRecord, StoredSet

router: Final = APIRouter(include_in_schema=False)
_Number = Annotated[int | None, Query(ge=0)]


@router.get("/mappings/history")
def show_history(
    request: Request,
    admin: AdminDep,
    shown: Annotated[int | None, Query(alias="set", ge=1)] = None,
    against: _Number = None,
    back: Annotated[int | None, Query(alias="rollback", ge=1)] = None,
) -> HTMLResponse:
    """Show the list of mapping sets, and the differences between two of them.

    shown    number of the set whose effects are shown; None: the active set
    against  number of the set that it is compared with; None: the set before it
    back     number of the set whose rollback is previewed; None: no preview
    """
    return _history(request, admin, shown, against, back)


@router.post("/mappings/rollback")
def roll_back(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Save the contents of an older set as a new set and activate it.

    The form has the number of the active set that the user saw. If another set is active now,
    nothing is changed, and the page asks the user to load the list again.
    """
    base, to = form.number("base", "The number of the set"), form.number("set", "The set")
    if not form["comment"].strip():
        return _history(
            request,
            admin,
            None,
            None,
            to,
            "Write the reason of the rollback. The history shows it.",
        )
    known = Precondition(if_match=TagList(frozenset([str(base)])))
    try:
        admin.mappings.editor.roll_back(to, known, note_from(request, form))
    except (PreconditionFailed, VersionConflict):
        sentence = (
            f"Another set became active since set {base}. Nothing was changed. Load the list again."
        )
        return _history(request, admin, None, None, to, sentence, HTTPStatus.PRECONDITION_FAILED)
    return done("history", "mapping-rolled-back")


def _history(
    request: Request,
    admin: Admin,
    shown: int | None,
    against: int | None,
    back: int | None,
    error: str = "",
    status: HTTPStatus | None = None,
) -> HTMLResponse:
    head = head_values(admin, "history")
    try:
        known = admin.mappings.archive.known_sets()
    except Unreachable as exc:
        return unread_page(request, head, exc, "the saved sets")
    values = {
        **head,
        "known": known,
        "records": known.value,
        **_compared(admin, known.value, shown, against, back),
        "error": error,
    }
    status = status or (HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK)
    return render(request, "mappings/history.html", values, section=SECTION, status=status)


def _compared(
    admin: Admin,
    records: Sequence[SetRecord],
    shown: int | None,
    against: int | None,
    back: int | None,
) -> dict[str, object]:
    """Return what compares two sets; `unread` says why it cannot be shown."""
    nothing: dict[str, object] = {"active": None, "one": StoredSet.empty(), "trial": None}
    try:
        return {
            **_differences(admin, records, shown, against),
            "unread": None,
            **_back(admin, back),
        }
    except Unreachable as exc:
        return {**nothing, "unread": unread_part(exc, "the differences between sets")}


def _differences(
    admin: Admin, records: Sequence[SetRecord], shown: int | None, against: int | None
) -> dict[str, object]:
    active = admin.mappings.archive.active_number()
    number = shown or active or (records[0].number if records else 0)
    one = admin.mappings.archive.set(number) if number else StoredSet.empty()
    before = max((each.number for each in records if each.number < number), default=0)
    other_number = before if against is None else against
    other = admin.mappings.archive.set(other_number) if other_number else StoredSet.empty()
    return {
        "active": active,
        "one": one,
        "other": other,
        "diffs": document_diffs(other.bodies, one.bodies),
        "changes": admin.mappings.editor.changes_of(number) if number else [],
    }


def _back(admin: Admin, back: int | None) -> dict[str, object]:
    trial = None if back is None else _trial(admin, back)
    problems = MappingProblemView.listed(trial.problems, trial.bodies) if trial else []
    return {"back": back, "trial": trial, "back_problems": problems}


def _trial(admin: Admin, number: int) -> Trial:
    return admin.mappings.editor.try_out(admin.mappings.archive.set(number).bodies, (), whole=True)

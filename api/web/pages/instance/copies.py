"""The pages of copies of an instance's tables into their topics: the list, its acts, and a new
copy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.access import Caller
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.models.snapshot import SnapshotView, SnapshotWish
from api.web.acts import Shown, done, in_dialog, model_from, who_from
from api.web.forms import Form, FormDep
from api.web.views.unread import UnreadPart, unread_part
from relay.errors import NodeMissing, RelayError
from relay.operations import Who

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/copies")


_NOTHING: Final[Mapping[str, str]] = dict.fromkeys(
    ("tables", "where", "to_topic", "rows", "priority"), ""
)
"""The fields of a new copy, before anything is typed."""


@router.get("")
def show_copies(request: Request, admin: AdminDep, caller: CallerDep, name: str) -> HTMLResponse:
    """Show the copy requests, and the form for a new one."""
    return _page(admin, caller, name, _NOTHING).render(request)


@router.post("/preview")
def preview_copy(
    request: Request, admin: AdminDep, caller: CallerDep, name: str, form: FormDep
) -> HTMLResponse:
    """Show the effect of a new copy. Nothing is changed.

    The condition may contain values of rows, so it is in no URL: URLs are stored in logs and
    histories.
    """
    return _page(admin, caller, name, _asked(form)).render(request)


@router.post("")
def start_copy(
    request: Request, admin: AdminDep, caller: CallerDep, name: str, form: FormDep
) -> RedirectResponse:
    """Create a request to copy tables of this instance."""
    asked = _asked(form)
    with in_dialog(request, "start", form, partial(_page, admin, caller, name, asked)):
        wish = _wish(asked)
        admin.snapshots.start(who_from(request, form), wish.wanted(), [name])
    return done("copies", "copy-started")


@dataclass(frozen=True, slots=True)
class Act:
    """An act on one copy: the caller, the copy, and the form."""

    request: Request
    admin: AdminDep
    caller: CallerDep
    name: str
    number: str
    form: FormDep

    def done(self, act: Callable[[Who, str, str], object], key: str) -> RedirectResponse:
        """Run an act on the copy, and redirect to the list of copies.

        act  function of actor, number of the copy, and instance
        key  key of the sentence that the page shows

        After an error the page shows the reason in the dialog of the act.
        """
        page = partial(_page, self.admin, self.caller, self.name, _NOTHING)
        with in_dialog(self.request, self.number, self.form, page):
            act(who_from(self.request, self.form), self.number, self.name)
        return done(f"../../../{quote(self.name, safe='')}/copies", key)


@router.post("/{number}/pause")
def pause_copy(act: Annotated[Act, Depends()]) -> RedirectResponse:
    """Pause a copy of tables."""
    return act.done(act.admin.snapshots.pause, "copy-paused")


@router.post("/{number}/resume")
def resume_copy(act: Annotated[Act, Depends()]) -> RedirectResponse:
    """Resume a paused copy."""
    return act.done(act.admin.snapshots.resume, "copy-resumed")


@router.post("/{number}/cancel")
def cancel_copy(act: Annotated[Act, Depends()]) -> RedirectResponse:
    """Cancel a copy of tables; published rows remain."""
    return act.done(act.admin.snapshots.cancel, "copy-cancelled")


def _page(admin: Admin, caller: Caller, name: str, asked: Mapping[str, str]) -> Shown:
    """Return the page. If there can be no preview, the page shows the reason instead.

    Raises NodeMissing.
    """
    if name not in admin.watch.moment().facts:
        raise NodeMissing(f"There is no instance {name!r}.")
    sentences: list[str] = []
    refused: RelayError | None = None
    unread: UnreadPart | None = None
    copies: list[SnapshotView] = []
    try:
        if asked["tables"].strip():
            sentences = admin.repairs.preview_copy(_wish(asked).wanted(), [name])
    except RelayError as exc:
        refused = exc
    try:
        shown = admin.snapshots.shown(name)
        values = caller.sees_values
        copies = [SnapshotView.shown(each, values=values) for each in reversed(shown)]
    except RelayError as exc:
        unread = unread_part(exc)
    page: dict[str, object] = {
        "title": f"Table copies of {name}",
        "name": name,
        "copies": copies,
        "unread": unread,
        "asked": asked,
        "sentences": sentences,
        "refused": refused,
    }
    return Shown("instance/copies.html", page, "overview")


def _asked(form: Form) -> dict[str, str]:
    return {field: form[field] for field in _NOTHING}


def _wish(asked: Mapping[str, str]) -> SnapshotWish:
    """Return the request of a form. Raises BadRequest."""
    form = Form({key: value or "0" for key, value in asked.items()})
    return model_from(
        SnapshotWish,
        tables=asked["tables"].replace(",", " ").split(),
        where=asked["where"].strip(),
        to_topic=asked["to_topic"].strip(),
        rows_per_second=form.number("rows", "Rows a second"),
        priority=form.number("priority", "Priority"),
    )

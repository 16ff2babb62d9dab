"""The page of the mapping editor: check, dry run, save, and applying an edit to a newer set."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.composition import Admin
from api.deps import AdminDep
from api.errors import BadRequest, PreconditionFailed, ProblemsFound
from api.middleware.request_body import documents_of, pretty_document
from api.models.problem import MappingProblemView
from api.services.mappings.merge.proposal import proposal
from api.services.mappings.merge.text_diff import document_diffs
from api.services.mappings.merge.three_way_merge import Merged, merged
from api.web.acts import Shown, done, in_dialog, note_from
from api.web.forms import Form, FormDep
from api.web.pages.mappings.edit_form import Edit, read_edit
from api.web.pages.mappings.head import SECTION, head_values, unread_page
from api.web.rendering import render
from api.web.views.editor import documents_shown, first_changed, kind_counts
from api.web.views.mappings import SHORT_NAMES
from relay.errors import Unreachable, VersionConflict
from relay.state import StoredSet

router: Final = APIRouter(include_in_schema=False)


@router.get("/mappings/edit")
def show_editor(
    request: Request,
    admin: AdminDep,
    table: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    """Show the active documents. With `table`, an entry for this real table is proposed."""
    try:
        stored = admin.mappings.archive.known().value
    except Unreachable as exc:
        return unread_page(request, head_values(admin, "edit"), exc, "the documents")
    bodies = proposal(stored.bodies, table) if table else dict(stored.bodies)
    return _editor(request, admin, Edit(stored.number, bodies), stored)


@router.post("/mappings/edit")
def check_edit(request: Request, admin: AdminDep, form: FormDep) -> HTMLResponse:
    """Show the edit again with its problems. Nothing is saved."""
    with _kept(request, admin, form):
        base, edit = _read(admin, form)
        return _editor(request, admin, edit, base)


@router.post("/mappings/import")
def import_documents(request: Request, admin: AdminDep, form: FormDep) -> HTMLResponse:
    """Put the documents of an uploaded file into the editor. Nothing is saved. Raises
    BadRequest.
    """
    stored = admin.mappings.archive.active()
    wanted = documents_of(form["file"].encode())
    unknown = sorted(set(wanted) - set(SHORT_NAMES.values()))
    if unknown:
        raise BadRequest(
            f"{unknown[0]} is not a mapping document; the documents are "
            f"{', '.join(SHORT_NAMES.values())}."
        )
    return _editor(request, admin, Edit(stored.number, wanted), stored)


@router.get("/mappings/export")
def export_documents(admin: AdminDep) -> Response:
    """Return all active documents as one file, in the form that the import accepts."""
    stored = admin.mappings.archive.active()
    return Response(
        _one_file(stored.bodies),
        media_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="mappings-{stored.number}.json"'},
    )


@router.post("/mappings/dry-run")
def show_dry_run(request: Request, admin: AdminDep, form: FormDep) -> HTMLResponse:
    """Show the effects of saving the edit. Nothing is saved."""
    with _kept(request, admin, form):
        base, edit = _read(admin, form)
        stored = admin.mappings.archive.active()
        if stored.number != edit.base:
            return _conflict(request, admin, edit, base, stored)
        return _dry_run(request, admin, edit, stored, form)


@router.post("/mappings/apply")
def apply_edit(request: Request, admin: AdminDep, form: FormDep) -> HTMLResponse:
    """Apply the edit to the active set, and show the result in the editor."""
    with _kept(request, admin, form):
        base, edit = _read(admin, form)
        stored = admin.mappings.archive.active()
        result = merged(base.bodies, edit.bodies, stored.bodies)
        if result.unread:
            return _conflict(request, admin, edit, base, stored, result)
        return _editor(request, admin, Edit(stored.number, result.bodies), stored, result)


@router.post("/mappings/save")
def save_edit(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Save the edit as the next set, unless another set became active meanwhile."""
    with _kept(request, admin, form):
        return _save(request, admin, form)


def _save(request: Request, admin: Admin, form: Form) -> Response:
    base, edit = _read(admin, form)
    if not form["comment"].strip():
        stored = admin.mappings.archive.active()
        return _dry_run(request, admin, edit, stored, form, missing=True)
    try:
        admin.mappings.editor.save_group(
            "ROMA_GROUP", edit.bodies, edit.precondition, note_from(request, form)
        )
    except ProblemsFound:
        return _editor(request, admin, edit, base)
    except (PreconditionFailed, VersionConflict):
        return _conflict(request, admin, edit, base, admin.mappings.archive.active())
    return done("../mappings", "mapping-saved")


def _read(admin: Admin, form: Form) -> tuple[StoredSet, Edit]:
    """Return the set that the edit began with, and the edit. Raises BadRequest, NodeMissing."""
    number = form.number("base", "The number of the set")
    base = admin.mappings.archive.set(number) if number > 0 else StoredSet.empty()
    return base, read_edit(form, base.bodies)


def _kept(request: Request, admin: Admin, form: Form) -> AbstractContextManager[None]:
    """Context manager: after an error the page shows the reason and keeps what was typed."""

    def shown() -> Shown:
        known = admin.mappings.archive.known().value
        edit = read_edit(form, known.bodies)
        return Shown("mappings/edit.html", _editor_values(admin, edit, known), SECTION)

    return in_dialog(request, "edit", form, shown)


def _editor(
    request: Request, admin: Admin, edit: Edit, base: StoredSet, result: Merged | None = None
) -> HTMLResponse:
    values = {**_editor_values(admin, edit, base, result), "error": None}
    status = (
        HTTPStatus.UNPROCESSABLE_ENTITY if request.url.path.endswith("/save") else HTTPStatus.OK
    )
    return render(request, "mappings/edit.html", values, section=SECTION, status=status)


def _editor_values(
    admin: Admin, edit: Edit, base: StoredSet, result: Merged | None = None
) -> dict[str, object]:
    found = admin.mappings.editor.check(edit.bodies) if edit.bodies else []
    problems = MappingProblemView.listed(found, edit.bodies)
    return {
        **head_values(admin, "edit"),
        "edit": edit,
        "shown": documents_shown(edit.bodies, base.record.versions, problems),
        "problems": problems,
        "diffs": document_diffs(base.bodies, edit.bodies),
        "first": first_changed(base.bodies, edit.bodies),
        "clashes": result.clashes if result else (),
        "applied": result is not None,
    }


def _dry_run(
    request: Request,
    admin: Admin,
    edit: Edit,
    stored: StoredSet,
    form: Form,
    *,
    missing: bool = False,
) -> HTMLResponse:
    trial = admin.mappings.editor.try_out(edit.bodies, (), whole=True)
    if trial.problems:
        return _editor(request, admin, edit, stored)
    values = {
        **head_values(admin, "edit"),
        "edit": edit,
        "names": SHORT_NAMES,
        "trial": trial,
        "counts": kind_counts(trial.changes),
        "diffs": document_diffs(stored.bodies, edit.bodies),
        "comment": form["comment"],
        "error": "Write the reason of the edit. The history shows it." if missing else "",
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if missing else HTTPStatus.OK
    return render(request, "mappings/dry_run.html", values, section=SECTION, status=status)


def _conflict(
    request: Request,
    admin: Admin,
    edit: Edit,
    base: StoredSet,
    stored: StoredSet,
    result: Merged | None = None,
) -> HTMLResponse:
    values = {
        **head_values(admin, "edit"),
        "edit": edit,
        "names": SHORT_NAMES,
        "stored": stored,
        "theirs": document_diffs(base.bodies, stored.bodies),
        "mine": document_diffs(base.bodies, edit.bodies),
        "merged": result or merged(base.bodies, edit.bodies, stored.bodies),
        "tried": result is not None,
    }
    return render(
        request,
        "mappings/conflict.html",
        values,
        section=SECTION,
        status=HTTPStatus.PRECONDITION_FAILED,
    )


def _one_file(bodies: Mapping[str, str]) -> str:
    parts = [
        f"{json.dumps(data_id)}: {pretty_document(json.loads(body)).strip()}"
        for data_id, body in bodies.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"

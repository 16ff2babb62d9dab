"""Endpoints for mapping sets: try an edit, list the history, roll back."""

from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from api.deps import AdminDep, BodyDep, NoteDep, PreconditionDep
from api.entity_tag import entity_tag
from api.listing import LastReadDep, ListingDep
from api.middleware.request_body import documents_of
from api.models.mappings.logical_mapping import Grouping, LogicalView
from api.models.mappings.mapping import (
    ChangeView,
    ClashView,
    DocumentsView,
    DryRunView,
    MergedView,
    MergeRequest,
    RollBackRequest,
    SavedView,
    SetView,
    WholeSetView,
)
from api.models.problem import MappingProblemView
from api.routers.configs import GROUP_BODY, change_view, saved_view
from api.services.mappings.logical.table_groups import Part
from api.services.mappings.mapping_editor import Trial
from api.services.mappings.merge.proposal import proposal
from api.services.mappings.merge.three_way_merge import merged
from relay.state import StoredSet

router: Final = APIRouter(prefix="/api/v1/mappings", tags=["mapping sets"])


@router.post("/dry-run", openapi_extra=GROUP_BODY)
def dry_run(
    admin: AdminDep,
    response: Response,
    body: BodyDep,
    table: Annotated[list[str] | None, Query()] = None,
) -> DryRunView:
    """Return the problems or the effects of saving these documents. Nothing is saved.

    The other documents are assumed unchanged. The result covers tables that relays have read,
    tables that the documents name, and those given as `table=database.table`. `database.*` means
    every other table of a database.
    """
    trial = admin.mappings.editor.try_out(documents_of(body), table or ())
    response.headers["ETag"] = entity_tag(trial.base)
    return _dry_run_view(trial)


@router.post("/merge")
def merge_edit(admin: AdminDep, wanted: MergeRequest) -> MergedView:
    """Apply an edit to the active set, if another user saved since the edit began. Nothing is
    saved.
    """
    archive = admin.mappings.archive
    base = archive.set(wanted.base) if wanted.base else StoredSet.empty()
    stored = archive.active()
    found = merged(base.bodies, wanted.documents, stored.bodies)
    return MergedView(
        base=stored.number,
        documents=dict(found.bodies),
        clashes=[ClashView(**asdict(each)) for each in found.clashes],
        unread=list(found.unread),
    )


@router.get("/proposal")
def propose_entry(
    admin: AdminDep,
    table: Annotated[
        str, Query(max_length=300, description="A real table.", examples=["crm_01.lead"])
    ],
) -> DocumentsView:
    """Return the active documents with entries that map a real table to its own name. Nothing is
    saved.
    """
    stored = admin.mappings.archive.active()
    return DocumentsView(base=stored.number, documents=proposal(stored.bodies, table))


@router.get("/logical")
def read_logical(
    admin: AdminDep, listing: ListingDep, last: LastReadDep, by: Grouping = "db"
) -> LogicalView:
    """Return the active set in groups: shards, rules, topics, tags and counts of real tables.

    Entries of the list are the tables of all groups, one group after the other. The filter finds
    words in the names of a table or of its group, its rules, topics and tags. A group without
    tables counts as one entry.
    """
    part = Part(listing.words, listing.limit, listing.offset)
    found = last.of(admin.mappings.logical.known_page(by, part))
    listing.note_total(found.entries)
    return found.view


@router.get("/sets")
def list_sets(
    admin: AdminDep,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31, description="Number of entries to skip.")] = 0,
) -> list[SetView]:
    """Return the mapping sets, the newest first."""
    active = admin.mappings.archive.active_number()
    if active is not None:
        response.headers["ETag"] = entity_tag(active)
    records = admin.mappings.archive.sets(offset + limit)[offset:]
    return [SetView.of(record, active) for record in records]


@router.get("/sets/{number}")
def read_set(admin: AdminDep, number: int) -> WholeSetView:
    """Return one set with its documents' text."""
    stored = admin.mappings.archive.set(number)
    view = SetView.of(stored.record, admin.mappings.archive.active_number())
    return WholeSetView(**view.model_dump(), bodies=dict(stored.bodies))


@router.get("/sets/{number}/changes")
def read_changes(admin: AdminDep, number: int) -> list[ChangeView]:
    """Return the effects of a set compared with the previous one, for the tables known at
    present.
    """
    return [change_view(each) for each in admin.mappings.editor.changes_of(number)]


@router.post("/rollback/preview")
def preview_roll_back(admin: AdminDep, response: Response, wanted: RollBackRequest) -> DryRunView:
    """Return the problems or the effects of a rollback. Nothing is saved."""
    bodies = admin.mappings.archive.set(wanted.set).bodies
    trial = admin.mappings.editor.try_out(bodies, (), whole=True)
    response.headers["ETag"] = entity_tag(trial.base)
    return _dry_run_view(trial)


@router.post("/rollback")
def roll_back(
    admin: AdminDep,
    response: Response,
    wanted: RollBackRequest,
    precondition: PreconditionDep,
    note: NoteDep,
) -> SavedView:
    """Activate the contents of an older set again, as a new set with the next number.

    Requires If-Match; `If-Match: *` matches any active set.
    """
    return saved_view(admin.mappings.editor.roll_back(wanted.set, precondition, note), response)


def _dry_run_view(trial: Trial) -> DryRunView:
    return DryRunView(
        base=trial.base,
        acceptable=not trial.problems,
        problems=MappingProblemView.listed(trial.problems, trial.bodies),
        changes=[
            change_view(each, load) for each, load in zip(trial.changes, trial.loads, strict=True)
        ],
        unchanged=trial.unchanged,
    )

"""Endpoints for the audit trail: they list operator acts, and check that the trail is complete."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Response

from api.deps import AdminDep
from api.errors import BadRequest
from api.listing import LastReadDep
from api.models.audit import AuditActsView, AuditEntryView, AuditVerdictView
from relay.audit import AuditFilter, Reference, exported

router: Final = APIRouter(prefix="/api/v1/audit", tags=["audit"])
_TYPES: Final = {"jsonl": "application/jsonl", "csv": "text/csv"}
_Text = Annotated[str | None, Query(max_length=300)]
_Known = Annotated[str, Query(max_length=500)]


def _wanted(
    subject: Annotated[str | None, Query(description="Only entries of this instance.")] = None,
    actor: Annotated[_Text, Query(description="Only entries of this user or token.")] = None,
    act: Annotated[
        _Text, Query(description="Only this act, or all acts of a kind: `mapping`.")
    ] = None,
    before: Annotated[
        int | None, Query(ge=0, description="Entries before this time, Unix milliseconds.")
    ] = None,
    since: Annotated[
        int | None, Query(ge=0, description="Entries from this time on, Unix milliseconds.")
    ] = None,
    comment: Annotated[
        _Text,
        Query(description="Only entries whose comment contains this text, in upper or lower case."),
    ] = None,
    via: Annotated[_Text, Query(description="How it was requested: `page`.")] = None,
) -> AuditFilter:
    texts = (comment or "", via or "")
    return AuditFilter(actor or "", act or "", subject or "", before, since, *texts)


@router.get(
    "",
    response_model=list[AuditEntryView],
    responses={
        200: {"content": {each: {"schema": {"type": "string"}} for each in _TYPES.values()}}
    },
)
def list_audit(
    admin: AdminDep,
    response: Response,
    last: LastReadDep,
    wanted: Annotated[AuditFilter, Depends(_wanted)],
    limit: Annotated[int, Query(ge=1, le=10_000, description="Largest number of entries.")] = 100,
    form: Annotated[
        Literal["json", "jsonl", "csv"],
        Query(alias="format", description="`jsonl`: one entry a line; `csv`: for spreadsheets."),
    ] = "json",
) -> list[AuditEntryView] | Response:
    """Return operator acts, the newest first.

    The header `X-Older-Before` is the parameter `before` for the next page; the last page does not
    have it. A page contains all entries with the time of its last entry, so it may have more than
    `limit` entries. With `last`, an old answer has only the newest 500 entries of the trail.
    """
    book = admin.book
    page = last.of(book.checked()).page(wanted, limit) if last.wanted else book.page(wanted, limit)
    older = {} if page.older is None else {"X-Older-Before": str(page.older)}
    if form != "json":
        lines = "".join(exported(page.entries, form))
        return Response(lines, media_type=_TYPES[form], headers={**response.headers, **older})
    response.headers.update(older)
    return [AuditEntryView.of(each) for each in page.entries]


@router.get("/acts")
def read_acts(admin: AdminDep, last: LastReadDep) -> AuditActsView:
    """Return the names of all acts in the newest entries."""
    return AuditActsView(acts=list(last.of(admin.book.checked()).acts))


@router.get("/verification")
def verify_audit(
    admin: AdminDep,
    known: Annotated[
        list[_Known] | None,
        Query(
            max_length=100,
            description="Entries that an earlier check named as `newest`. The answer names those "
            "that the trail lacks.",
        ),
    ] = None,
) -> AuditVerdictView:
    """Check the hash chains of the whole trail, and report missing and changed entries.

    Chains prove nothing about the newest entries, because no later entry names them. Store `newest`
    outside of Kafka and send it as `known` in a later check.
    """
    return AuditVerdictView.of(admin.book.verdict(_references(known or [])))


def _references(texts: list[str]) -> list[Reference]:
    """Raises BadRequest for a text that names no entry."""
    try:
        return [Reference.parse(each) for each in texts]
    except ValueError as exc:
        raise BadRequest(
            f"A value of the parameter `known` must be written as writer:number:digest ({exc})."
        ) from exc

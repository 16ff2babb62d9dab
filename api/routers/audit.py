"""The audit trail: what was done by hand."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response

from api.deps import AdminDep
from api.models.audit import AuditEntryView
from api.services.audit_book import AuditFilter

router: Final = APIRouter(prefix="/api/v1/audit", tags=["audit"])
_LINES: Final = "application/jsonl"
_Text = Annotated[str | None, Query(max_length=300)]


@router.get(
    "",
    response_model=list[AuditEntryView],
    responses={200: {"content": {_LINES: {"schema": {"type": "string"}}}}},
)
def list_audit(
    admin: AdminDep,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many entries at most.")] = 100,
    subject: Annotated[str | None, Query(description="The entries of one instance alone.")] = None,
    actor: Annotated[_Text, Query(description="The entries of one person or token alone.")] = None,
    act: Annotated[_Text, Query(description="One act, or all of a kind: `mapping`.")] = None,
    before: Annotated[
        int | None, Query(ge=0, description="Entries before this moment, Unix milliseconds.")
    ] = None,
    form: Annotated[
        Literal["json", "jsonl"], Query(alias="format", description="`jsonl`: one entry a line.")
    ] = "json",
) -> list[AuditEntryView] | Response:
    """Return what was done by hand, the newest first.

    `X-Older-Before` is the `before` of the next page; it is absent on the last one. Entries of the
    page's last moment come all, so a page may have a few more than `limit`.
    """
    page = admin.book.page(AuditFilter(actor or "", act or "", subject or "", before), limit)
    headers = {} if page.older is None else {"X-Older-Before": str(page.older)}
    entries = [AuditEntryView.of(each) for each in page.entries]
    if form == "jsonl":
        lines = "".join(f"{each.model_dump_json()}\n" for each in entries)
        return Response(lines, media_type=_LINES, headers=headers)
    response.headers.update(headers)
    return entries

"""The page of the audit trail."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.readings import Reading
from api.services.audit_book import CheckedEntries
from api.web.rendering import render
from api.web.views.audit import address, rows_of
from api.web.views.unread import Part, read_parts
from relay.audit import COMMAND_LINE, PAGE, RELAY, REST, AuditFilter, AuditVerdict

router: Final = APIRouter(include_in_schema=False)
_PAGE: Final = 100
_NOTHING: Final = CheckedEntries((), (), AuditVerdict())
_Text = Annotated[str, Query(max_length=300)]


@router.get("/audit")
def show_audit(
    request: Request,
    admin: AdminDep,
    who: _Text = "",
    act: _Text = "",
    subject: _Text = "",
    comment: _Text = "",
    via: _Text = "",
    before: Annotated[int | None, Query(ge=0)] = None,
) -> HTMLResponse:
    """Show operator acts, the newest first."""
    texts = comment.strip(), via.strip()
    wanted = AuditFilter(who.strip(), act.strip(), subject.strip(), before, None, *texts)
    read = read_parts((Part("checked", "the entries and their check", admin.book.checked),))
    known: Reading[CheckedEntries] | None = read.values.get("checked")
    checked = _NOTHING if known is None else known.value
    found = checked.page(wanted, _PAGE)
    values = {
        "title": "Audit",
        "wanted": wanted,
        "unread": read.unread,
        "known": known,
        "rows": rows_of(found.entries),
        "acts": checked.acts,
        "ways": (PAGE, REST, COMMAND_LINE, RELAY),
        "verdict": checked.verdict,
        "older": "" if found.older is None else address(wanted, before=found.older),
        "newest": address(wanted, before=None),
        "lines": address(wanted, before=before, form="jsonl"),
        "csv": address(wanted, before=before, form="csv"),
    }
    return render(request, "audit.html", values, section="audit")

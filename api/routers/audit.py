"""The audit trail: what was done by hand."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep
from api.models.audit import AuditEntryView

router: Final = APIRouter(prefix="/api/v1/audit", tags=["audit"])


@router.get("")
def list_audit(
    admin: AdminDep,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many entries at most.")] = 100,
    subject: Annotated[str | None, Query(description="The entries of one instance alone.")] = None,
) -> list[AuditEntryView]:
    """Return what was done by hand, the newest first."""
    return [AuditEntryView.of(entry) for entry in admin.audit.entries(limit, subject)]

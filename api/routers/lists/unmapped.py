"""Real tables that no mapping document lists."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.models.mappings.logical_mapping import UnmappedView

router: Final = APIRouter(prefix="/api/v1/unmapped", tags=["mapping sets"])


@router.get("")
def list_unmapped(admin: AdminDep) -> list[UnmappedView]:
    """Return the real tables of all instances that rows came of and that no document lists."""
    return admin.unmapped.listed()

"""Relays: the connected processes."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.listing import ListingDep
from api.models.instance import RelayView

router: Final = APIRouter(prefix="/api/v1/relays", tags=["relays"])


@router.get("")
def list_relays(admin: AdminDep, part: ListingDep) -> list[RelayView]:
    """Return the relay processes that are connected to ZooKeeper."""
    return part.of(admin.directory.relays())

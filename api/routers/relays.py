"""Endpoint that lists the relays that are connected to ZooKeeper."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.listing import LastReadDep, ListingDep
from api.models.instance import RelayView
from api.readings import Reading

router: Final = APIRouter(prefix="/api/v1/relays", tags=["relays"])


@router.get("")
def list_relays(admin: AdminDep, part: ListingDep, last: LastReadDep) -> list[RelayView]:
    """Return the relay processes that are connected to ZooKeeper."""
    if last.wanted:
        moment = admin.watch.moment()
        return part.of(list(last.of(Reading(moment.relays, moment.read_ms, moment.error))))
    return part.of(admin.directory.relays())

"""The mapping set that an instance publishes under, and the confirmation of another one after
ZooKeeper was lost.
"""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep, NoteDep
from api.models.mappings.instance_mapping import AcceptedMapping, MappingComparisonView
from relay.operations import Who

router: Final = APIRouter(prefix="/api/v1/instances/{name}/mapping", tags=["positions"])


@router.get("")
def compare_mapping(admin: AdminDep, name: str) -> MappingComparisonView:
    """Compare the set that the instance publishes under with the one in ZooKeeper.

    Nothing is changed.
    """
    return admin.positions.compare_mapping(name)


@router.post("/accept")
def accept_mapping(
    admin: AdminDep, name: str, wanted: AcceptedMapping, note: NoteDep
) -> MappingComparisonView:
    """Publish the next rows under the set in ZooKeeper, if it is still the named one."""
    return admin.positions.accept_mapping(name, wanted, Who(note.author, note.comment))

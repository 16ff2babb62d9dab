"""Endpoints for the mapping set under which an instance publishes, and to accept another one after
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
    """Compare the set under which the instance publishes with the set in ZooKeeper.

    Nothing is changed.
    """
    return admin.positions.compare_mapping(name)


@router.post("/accept")
def accept_mapping(
    admin: AdminDep, name: str, wanted: AcceptedMapping, note: NoteDep
) -> MappingComparisonView:
    """Publish the next rows of the instance under the set in ZooKeeper.

    The request names that set, and is refused if ZooKeeper has another set now.
    """
    return admin.positions.accept_mapping(name, wanted, Who(note.author, note.comment))

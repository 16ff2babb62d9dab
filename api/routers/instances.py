"""Instances: what they do, why, and the way out."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.models.instance import DroppedNameView, InstanceView

router: Final = APIRouter(prefix="/api/v1/instances", tags=["instances"])


@router.get("")
def list_instances(admin: AdminDep) -> list[InstanceView]:
    """Return every instance that exists: of this file, defined at run time, or of another relay's
    file.
    """
    return admin.directory.instances()


@router.get("/{name}")
def read_instance(admin: AdminDep, name: str) -> InstanceView:
    """Return one instance."""
    return admin.directory.instance(name)


@router.get("/{name}/dropped")
def list_dropped(admin: AdminDep, name: str) -> list[DroppedNameView]:
    """Return the real names that the instance leaves out, those with the most rows first."""
    return admin.directory.dropped(name)

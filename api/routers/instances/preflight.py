"""Endpoints to check everything that an instance needs."""

from typing import Final

from fastapi import APIRouter

from api.deps import AdminDep
from api.models.installation.preflight import PreflightView

router: Final = APIRouter(prefix="/api/v1/instances/{name}/preflight", tags=["instances"])


@router.post("")
def check_instance(admin: AdminDep, name: str) -> PreflightView:
    """Check everything that the instance needs, as `roma preflight` does. Nothing is changed.

    The check takes seconds, and longer if a server does not answer. Folders and stores of the
    relay's server are not checked from the admin.
    """
    return admin.preflight.check(name)

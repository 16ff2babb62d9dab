"""Endpoints for the settings of instances that are defined at run time."""

from typing import Any, Final

from fastapi import APIRouter, Response

from api.deps import AdminDep, BodyDep, NoteDep, PreconditionDep
from api.entity_tag import entity_tag
from api.errors import BadRequest
from api.middleware.request_body import json_of
from relay.state import InstanceDocument

router: Final = APIRouter(prefix="/api/v1/instances/{name}/settings", tags=["instances"])

_EXAMPLE: Final = {
    "source": {
        "host": "mysql1",
        "user": "relay",
        "password": "${ROMA_SECRET_SHOP2}",
        "server_id": 9002,
    }
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": (
            "The settings of one instance as in the configuration file; only what differs from the "
            "defaults need be named."
        ),
        "content": {"application/json": {"schema": {"type": "object"}, "example": _EXAMPLE}},
    }
}


@router.get("")
def read_settings(admin: AdminDep, name: str, response: Response) -> dict[str, Any]:
    """Return an instance's document without its secrets. The ETag identifies this state of the
    document.

    Instances of the configuration file have no document.
    """
    return _shown(admin.instances.read(name), response)


@router.put(
    "", openapi_extra=_BODY, responses={201: {"description": "The instance was not there."}}
)
def save_settings(
    admin: AdminDep,
    name: str,
    response: Response,
    body: BodyDep,
    precondition: PreconditionDep,
    note: NoteDep,
) -> dict[str, Any]:
    """Add an instance, or change its settings (requires If-Match).

    Relays apply the settings within one or two seconds, at a transaction boundary. A secret that is
    sent masked keeps its stored value.
    """
    saved, is_added = admin.instances.save(name, _object(body), precondition, note)
    response.status_code = 201 if is_added else 200
    return _shown(saved, response)


@router.delete("", status_code=204)
def remove_settings(
    admin: AdminDep, name: str, precondition: PreconditionDep, note: NoteDep
) -> None:
    """Remove an instance (requires If-Match).

    Its position stays in Kafka: if you add an instance of this name again, it continues there.
    """
    admin.instances.remove(name, precondition, note)


def _shown(document: InstanceDocument, response: Response) -> dict[str, Any]:
    response.headers["ETag"] = entity_tag(document.state)
    return document.shown


def _object(body: bytes) -> dict[str, Any]:
    parsed = json_of(body)
    if not isinstance(parsed, dict):
        raise BadRequest("The body must be an object: the settings of one instance.")
    return parsed

"""Endpoints that report whether the admin works."""

from typing import Any, Final

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from api.deps import AdminDep
from relay.telemetry import metrics

router: Final = APIRouter(tags=["health"])
_NOT_READY: Final[dict[int | str, dict[str, Any]]] = {
    503: {"description": "It cannot.", "content": {"text/plain": {}}}
}


@router.get("/healthz", response_class=PlainTextResponse)
async def healthz() -> str:
    """Return "ok" if the process runs. This endpoint needs no other thread and no other server."""
    return "ok\n"


@router.get("/readyz", response_class=PlainTextResponse, responses=_NOT_READY)
def readyz(admin: AdminDep, response: Response) -> str:
    """Return "ok" if ZooKeeper can be reached, otherwise 503. Without ZooKeeper other endpoints
    fail.
    """
    if not admin.session.connected:
        response.status_code = 503
        return f"No ZooKeeper server answers at {admin.session.hosts}.\n"
    return "ok\n"


@router.get("/metrics", response_class=Response)
def read_metrics(admin: AdminDep) -> Response:
    """Return the metrics in Prometheus' text format."""
    metrics.STORE_CONNECTED.set(admin.session.connected)
    metrics.STORE_SESSIONS.set(admin.session.sessions)
    metrics.STORE_SESSION_TIMEOUT.set(admin.session.timeout_ms / 1000)
    return Response(metrics.render(), media_type=metrics.CONTENT_TYPE)

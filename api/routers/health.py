"""The admin's own health."""

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
    """Answer that the process runs; no other thread and no other server is necessary."""
    return "ok\n"


@router.get("/readyz", response_class=PlainTextResponse, responses=_NOT_READY)
def readyz(admin: AdminDep, response: Response) -> str:
    """Return whether ZooKeeper can be reached. Without it all other endpoints fail."""
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

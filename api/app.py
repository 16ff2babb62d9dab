"""The admin as an ASGI application."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from anyio import to_thread
from fastapi import FastAPI, Request, Response

from api.composition import compose
from api.errors import install_error_handlers
from api.models.problem import Problem
from api.routers import (
    audit,
    configs,
    dead_letters,
    failover,
    flow,
    health,
    instance_settings,
    instances,
    mappings,
    placement,
    positions,
    relays,
    routes,
)
from relay.deadline import Deadline
from relay.errors import StoreUnreachable
from relay.settings import RelaySettings
from relay.telemetry.metrics import ADMIN_REQUESTS
from relay.zk import Session

# A person waits in front of the answer; a ZooKeeper that needs longer counts as away.
_ANSWER_SECONDS: Final = 3.0
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"model": Problem, "description": "What is wrong, and the way out (application/problem+json)."},
    503: {"model": Problem, "description": "ZooKeeper does not answer; try again later (application/problem+json)."},
}


def create_app(settings: RelaySettings) -> FastAPI:
    """Make the application. It starts without ZooKeeper too, answers 503 meanwhile, and heals by itself."""
    session = Session(settings.zookeeper, answer_seconds=_ANSWER_SECONDS)
    admin = compose(settings, session)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with suppress(StoreUnreachable):  # the session goes on trying
            session.start(Deadline.after(0))
        yield
        await to_thread.run_sync(session.stop)

    app = FastAPI(
        title="Roma relay admin",
        summary="Mappings, instances and relays of one installation.",
        version="1",
        lifespan=lifespan,
        responses=_PROBLEMS,
    )
    app.state.admin = admin
    app.middleware("http")(_count)
    install_error_handlers(app)
    for each in (
        configs,
        mappings,
        routes,
        instances,
        instance_settings,
        failover,
        dead_letters,
        flow,
        positions,
        relays,
        placement,
        audit,
        health,
    ):
        app.include_router(each.router)
    return app


async def _count(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    route = request.scope.get("route")
    ADMIN_REQUESTS.labels(request.method, getattr(route, "path", "none"), str(response.status_code)).inc()
    return response

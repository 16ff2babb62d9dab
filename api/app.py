"""Builds the admin as an ASGI application."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from anyio import to_thread
from fastapi import Depends, FastAPI
from starlette.routing import BaseRoute

from api.composition import Admin, compose
from api.deps import check_rights
from api.error_answers import install_error_handlers
from api.guard import Guard
from api.interface_pages import install_interface_pages
from api.middleware.entity_tags import EntityTags
from api.middleware.hosts import AllowedHosts
from api.middleware.request_count import RequestCount
from api.models.problem import Problem
from api.openapi_document import openapi_document
from api.routers import (
    accounts,
    audit,
    configs,
    erasures,
    health,
    mappings,
    peek,
    placement,
    relays,
    routes,
    session,
    snapshots,
    table_topics,
    topics,
    watch,
)
from api.routers.installation import backup
from api.routers.instances import (
    dead_letters,
    failover,
    flow,
    instance_mapping,
    instance_settings,
    instances,
    positions,
    preflight,
)
from api.routers.lists import dead_letters as all_dead_letters
from api.routers.lists import unmapped
from api.services.mappings.logical.warm_up import WarmUp
from api.web import ROUTERS, install_web
from relay.deadline import Deadline
from relay.errors import StoreUnreachable
from relay.settings import RelaySettings
from relay.zk import Session

# A person waits in front of the answer; a ZooKeeper that needs longer counts as away.
_ANSWER_SECONDS: Final = 3.0
_AUDIT_SECONDS: Final = 2.0
"""At the end Kafka gets this long to take entries of the audit trail that wait."""
_ROUTERS: Final = (
    configs,
    mappings,
    unmapped,
    routes,
    topics,
    peek,
    table_topics,
    instances,
    instance_settings,
    failover,
    dead_letters,
    all_dead_letters,
    flow,
    snapshots,
    instance_mapping,
    positions,
    relays,
    placement,
    audit,
    erasures,
    session,
    accounts,
    health,
    watch,
    preflight,
    backup,
)
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "model": Problem,
        "description": "What is wrong, and the remedy (application/problem+json).",
    },
    502: {
        "model": Problem,
        "description": "ZooKeeper, Kafka or the source refused (application/problem+json).",
    },
    503: {
        "model": Problem,
        "description": (
            "ZooKeeper, Kafka or the source does not answer; try again later "
            "(application/problem+json)."
        ),
    },
}


def create_app(settings: RelaySettings, on_warm: Callable[[], None] = lambda: None) -> FastAPI:
    """Return the application of the admin.

    The application starts also while ZooKeeper is unavailable. It then answers 503, and works again
    when ZooKeeper is back. `on_warm` is called in a thread after the logical view was computed for
    the first time.

    Raises ConfigurationError for settings that the admin must refuse.
    """
    zookeeper = Session(settings.zookeeper, answer_seconds=_ANSWER_SECONDS)
    admin = compose(settings, zookeeper)

    app = FastAPI(
        title="Roma relay admin",
        summary="Mappings, instances and relays of one installation.",
        version="1",
        lifespan=partial(_lifespan, admin, zookeeper, on_warm),
        docs_url=None,
        redoc_url=None,
        responses=_PROBLEMS,
    )
    app.state.admin = admin
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]  # as FastAPI's manual has it
    install_error_handlers(app)
    routes = _include_routers(app)
    install_interface_pages(app)
    install_web(app)
    hosts = AllowedHosts([settings.api.host, *settings.api.hosts])
    app.add_middleware(EntityTags)
    app.add_middleware(Guard, routes=routes, hosts=hosts)
    app.add_middleware(RequestCount)
    return app


@asynccontextmanager
async def _lifespan(
    admin: Admin, zookeeper: Session, on_warm: Callable[[], None], _: FastAPI
) -> AsyncIterator[None]:
    with suppress(StoreUnreachable):  # the session continues to connect in the background
        zookeeper.start(Deadline.after(0))
    admin.watch.start()
    admin.left_settings.start()
    warm_up = WarmUp(zookeeper, admin.mappings.logical, on_warm)
    warm_up.start()
    yield
    await to_thread.run_sync(admin.watch.stop)
    await to_thread.run_sync(warm_up.stop)
    await to_thread.run_sync(admin.left_settings.stop)
    await to_thread.run_sync(admin.acts.close, _AUDIT_SECONDS)
    await to_thread.run_sync(zookeeper.stop)


def _include_routers(app: FastAPI) -> list[BaseRoute]:
    """Include all routers, each behind the check of rights; return their routes."""
    routers = [*(each.router for each in _ROUTERS), *ROUTERS]
    for router in routers:
        app.include_router(router, dependencies=[Depends(check_rights)])
    return [route for router in routers for route in router.routes]

"""The page of one instance, and the acts of its dialogs."""

from api.web.pages.instance import (
    acts,
    copies,
    page,
    position,
    preflight,
    repair,
    reposition,
    retire,
    settings,
    topics,
)

ROUTERS = (
    page.router,
    acts.router,
    position.router,
    reposition.router,
    topics.router,
    settings.router,
    copies.router,
    repair.router,
    preflight.router,
    retire.router,
)

__all__ = ["ROUTERS"]

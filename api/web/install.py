"""Adds the pages to the application."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from api.web.pages import (
    audit,
    backup,
    dead_letters,
    erase,
    failover,
    instance,
    login,
    overview,
    peek,
    provider,
    routes,
    servers,
    users,
)
from api.web.pages.mappings import editor, history, logical, unmapped

STATIC: Final = Path(__file__).parent / "static"

ROUTERS: Final[tuple[APIRouter, ...]] = (
    overview.router,
    *instance.ROUTERS,
    *failover.ROUTERS,
    *servers.ROUTERS,
    logical.router,
    editor.router,
    history.router,
    unmapped.router,
    routes.router,
    peek.router,
    audit.router,
    dead_letters.router,
    erase.router,
    login.router,
    provider.router,
    users.router,
    backup.router,
)
"""The routers of all pages. `api.access.endpoints` has the rights that they require."""


def install_web(app: FastAPI) -> None:
    """Serve style sheets, scripts and fonts of the pages below `/static`."""
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

"""Adds Swagger UI and ReDoc, with scripts from the installation: a browser loads nothing from other
servers.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

_PACKAGE: Final = "fastapi_offline"
"""Only its files are used."""
_OWN_FILES_ONLY: Final = "default-src 'self' 'unsafe-inline' data: blob:; frame-ancestors 'none'"


def install_interface_pages(app: FastAPI) -> None:
    """Add the pages of Swagger UI and ReDoc to the application.

    Their URLs are relative, because a proxy may serve the admin below a path prefix.
    """
    app.mount("/assets", StaticFiles(directory=_folder()), name="assets")

    @app.get("/docs", include_in_schema=False)
    def swagger_ui() -> HTMLResponse:
        return _closed(
            get_swagger_ui_html(
                openapi_url="openapi.json",
                title=app.title,
                swagger_js_url="assets/swagger-ui-bundle.js",
                swagger_css_url="assets/swagger-ui.css",
                swagger_favicon_url="assets/favicon.png",
            )
        )

    @app.get("/redoc", include_in_schema=False)
    def redoc() -> HTMLResponse:
        return _closed(
            get_redoc_html(
                openapi_url="openapi.json",
                title=app.title,
                redoc_js_url="assets/redoc.standalone.js",
                redoc_favicon_url="assets/favicon.png",
                with_google_fonts=False,
            )
        )


def _folder() -> Path:
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(
            f"{_PACKAGE} is not installed. Install the extra `api` of roma-relay.", name=_PACKAGE
        )
    return Path(found.origin).parent / "static"


def _closed(page: HTMLResponse) -> HTMLResponse:
    page.headers["Content-Security-Policy"] = _OWN_FILES_ONLY
    return page

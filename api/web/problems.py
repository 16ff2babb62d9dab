"""Answers errors with pages."""

from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from api.models.problem import Problem
from api.web.problem_words import title_of
from api.web.rendering import frame_of, render

_PASSING: Final = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
"""After these the same request may succeed a moment later."""
_PROGRAMS: Final = ("/api/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/static/")
"""Addresses that programs read; their errors are problem+json whatever the client accepts."""


def wants_page(scope: Scope) -> bool:
    """Return whether the sender of a request accepts HTML and the path is not one for programs."""
    if scope["path"].startswith(_PROGRAMS):
        return False
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted


def leads_to_login(scope: Scope) -> bool:
    """Return whether a refused request must be redirected to the form for signing in.

    That is so for a page that a browser reads without the header Authorization.
    """
    without_header = b"authorization" not in dict(scope["headers"])
    return scope["method"] in ("GET", "HEAD") and without_header and wants_page(scope)


def login_redirect(request: Request) -> RedirectResponse:
    """Return a redirect to the form for signing in, which leads back to the requested page."""
    page = frame_of(request, "")
    return RedirectResponse(
        f"{page.at('/login')}?next={quote(page.here, safe='')}",
        status_code=HTTPStatus.SEE_OTHER,
        headers={"Cache-Control": "no-store"},
    )


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """Return an error as a page with reason, remedy and code.

    If a dialog of a page made the request, return that page with the error in the dialog
    (`api.web.acts.in_dialog`).
    """
    failed = getattr(request.state, "failed_page", None)
    if failed is not None:
        shown: HTMLResponse = failed(problem)
        return shown
    return render(
        request,
        "problem.html",
        {"title": title_of(problem), "error": problem, "again": _again(request, problem)},
        section="",
        status=HTTPStatus(problem.status),
    )


def _again(request: Request, problem: Problem) -> str:
    """Return the address to try again; empty where that is no help, and after a form."""
    is_read = request.method in ("GET", "HEAD")
    return frame_of(request, "").here if is_read and problem.status in _PASSING else ""

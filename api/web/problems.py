"""Errors as pages."""

from http import HTTPStatus
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from starlette.types import Scope

from api.models.problem import Problem
from api.web.rendering import render

_PROGRAMS: Final = ("/api/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/static/")
"""Addresses that programs read; their errors are problem+json whatever the client accepts."""


def wants_page(scope: Scope) -> bool:
    """Whether the sender of a request is a browser that shows a page."""
    if scope["path"].startswith(_PROGRAMS):
        return False
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """Return a problem as a page with reason, remedy and code."""
    return render(
        request,
        "problem.html",
        {"title": problem.title, "error": problem},
        section="",
        status=HTTPStatus(problem.status),
    )

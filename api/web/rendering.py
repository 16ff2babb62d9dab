"""Renders pages: the template engine, and the headers that every page has."""

from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from api.access.endpoints import RIGHTS
from api.composition import Admin
from api.deps import caller_of
from api.error_status import problem_of
from api.web import words
from api.web.done import DONE
from api.web.page import SHOWN_URL, HealthLine, Page, document_path
from api.web.problem_words import remedy_of, title_of

_FOLDER: Final = Path(__file__).parent / "templates"
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        number=words.number,
        duration=words.duration,
        size=words.size,
        clock=words.clock,
        fine_clock=words.fine_clock,
        iso=words.iso,
        sentence=_sentence,
        problem_title=title_of,
        error_title=lambda error: title_of(problem_of(error)),
        error_remedy=lambda error: remedy_of(problem_of(error)),
        problem_remedy=remedy_of,
        counted=words.counted,
    )
    return made


@pass_context
def _sentence(context: Context, text: str) -> str:
    """Return a text as a sentence; names of instances keep their letters."""
    page: Page = context["page"]
    return words.sentence(text, page.instances)


_TEMPLATES: Final = _environment()


def render(
    request: Request,
    template: str,
    values: dict[str, object],
    *,
    section: str,
    status: HTTPStatus = HTTPStatus.OK,
) -> HTMLResponse:
    """Return a page.

    template  file name of the template
    values    values for the template; they must contain `title`
    section   key of the navigation entry that is marked as current
    status    HTTP status of the answer
    """
    page = frame_of(request, section)
    text = _TEMPLATES.get_template(template).render({**values, "page": page})
    return HTMLResponse(text, status_code=status, headers=_HEADERS)


def frame_of(request: Request, section: str) -> Page:
    """Return the frame of the page that answers a request.

    `section` is the key of the current navigation entry; empty: no entry is marked.
    """
    admin: Admin = request.app.state.admin
    return Page(
        path=document_path(request.url.path, request.headers.get(SHOWN_URL, "")),
        here=_here(request),
        section=section,
        installation=admin.settings.installation,
        caller=caller_of(request),
        done=DONE.get(request.query_params.get("done", ""), ""),
        csrf=getattr(request.state, "csrf", ""),
        health=_health(admin),
        counts={"overview": len(admin.watch.known.needs)},
        instances=frozenset(admin.watch.known.facts),
    )


def _here(request: Request) -> str:
    """Return where a sign-in leads back to: this page, or for an act the nearest page above it."""
    path = request.url.path
    if request.method == "GET":
        return f"{path}?{request.url.query}" if request.url.query else path
    pattern: str = getattr(request.scope.get("route"), "path", "")
    while pattern and f"GET {pattern}" not in RIGHTS:
        pattern, path = pattern.rpartition("/")[0], path.rpartition("/")[0]
    return path if pattern else "/"


def _health(admin: Admin) -> list[HealthLine]:
    if not admin.session.connected:
        return [HealthLine("ZooKeeper does not answer", good=False)]
    known, lines = admin.watch.known, [HealthLine("ZooKeeper connected", good=True)]
    if known.read_ms:
        away = f", {len(known.maintenance)} in maintenance" if known.maintenance else ""
        relays = words.counted(len(known.relays), "relay")
        lines.append(HealthLine(relays + away, good=bool(known.relays)))
    return lines

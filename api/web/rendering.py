"""Writing a page: the template engine, and the headers that every page carries."""

from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from api.composition import Admin
from api.deps import caller_of
from api.web import words
from api.web.done import DONE
from api.web.page import HealthLine, Page

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
        iso=words.iso,
        sentence=words.sentence,
        counted=words.counted,
    )
    return made


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

    values   what the template shows; `title` is among them
    section  key of the entry of the navigation that is marked as current
    """
    page = frame_of(request, section)
    text = _TEMPLATES.get_template(template).render({**values, "page": page})
    return HTMLResponse(text, status_code=status, headers=_HEADERS)


def frame_of(request: Request, section: str) -> Page:
    """Return what surrounds the page of a request."""
    admin: Admin = request.app.state.admin
    query = f"?{request.url.query}" if request.url.query else ""
    return Page(
        path=request.url.path,
        here=request.url.path + query,
        section=section,
        installation=admin.settings.installation,
        caller=caller_of(request),
        done=DONE.get(request.query_params.get("done", ""), ""),
        csrf=getattr(request.state, "csrf", ""),
        health=_health(admin),
        counts={"overview": len(admin.watch.known.needs)},
    )


def _health(admin: Admin) -> list[HealthLine]:
    if not admin.session.connected:
        return [HealthLine("ZooKeeper does not answer", good=False)]
    known, lines = admin.watch.known, [HealthLine("ZooKeeper connected", good=True)]
    if known.read_ms:
        away = f", {len(known.maintenance)} in maintenance" if known.maintenance else ""
        relays = words.counted(len(known.relays), "relay")
        lines.append(HealthLine(relays + away, good=bool(known.relays)))
    return lines

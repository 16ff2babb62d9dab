"""Builds the head of all mapping pages: the active set, and the tabs."""

from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.errors import ActiveSetBroken
from api.readings import Reading
from api.web.rendering import render
from api.web.views.mappings import TABS
from api.web.views.unread import UnreadPart, unread_part
from relay.errors import Unreachable
from relay.state import StoredSet

SECTION: Final = "mappings"


def head_values(admin: Admin, tab: str) -> dict[str, object]:
    """Return the values for the template of a mapping page's head.

    `tab` is the key of the current tab. `record` is None if the active set cannot be read, and
    `head` if ZooKeeper has not answered since the admin's start.
    """
    head: Reading[StoredSet | None] | None = None
    unread: list[UnreadPart] = []
    try:
        head = _record(admin)
    except Unreachable as exc:
        unread = [unread_part(exc, "the mappings")]
    record = None if head is None or head.value is None else head.value.record
    found = {"head": head, "head_unread": unread, "record": record}
    return {"title": "Mappings", "tabs": TABS, "tab": tab, **found}


def unread_page(
    request: Request, head: dict[str, object], error: Unreachable, missing: str
) -> HTMLResponse:
    """Return a mapping page of which only the head can be shown.

    head     values of `head_values`
    missing  words for the part of the page that is not shown
    """
    values = {**head, "unread": unread_part(error, missing)}
    return render(request, "mappings/unread.html", values, section=SECTION)


def _record(admin: Admin) -> Reading[StoredSet | None]:
    try:
        known = admin.mappings.archive.known()
    except ActiveSetBroken:
        return Reading(None, 0)
    return Reading(known.value, known.read_ms, known.error)

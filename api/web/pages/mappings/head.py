"""The head of all mapping pages: the active set, and the tabs."""

from typing import Final

from api.composition import Admin
from api.errors import SetInForceBroken
from api.web.views.mappings import TABS
from relay.state import SetRecord

SECTION: Final = "mappings"


def head_values(admin: Admin, tab: str) -> dict[str, object]:
    """Return the template's values for the head of a mapping page.

    `tab` is the key of the current tab. `record` is None if the active set cannot be read.
    """
    return {"title": "Mappings", "tabs": TABS, "tab": tab, "record": _record(admin)}


def _record(admin: Admin) -> SetRecord | None:
    try:
        return admin.mappings.archive.in_force().record
    except SetInForceBroken:
        return None

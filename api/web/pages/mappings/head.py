"""The head of all mapping pages: the active set, and the tabs."""

from typing import Final

from api.composition import Admin
from api.errors import SetInForceBroken
from api.web.views.mappings import TABS
from relay.state import SetRecord

SECTION: Final = "mappings"


def head_values(admin: Admin, tab: str) -> dict[str, object]:
    """Return the values of the head; a set that cannot be read has no record."""
    return {"title": "Mappings", "tabs": TABS, "tab": tab, "record": _record(admin)}


def _record(admin: Admin) -> SetRecord | None:
    try:
        return admin.mappings.archive.in_force().record
    except SetInForceBroken:
        return None

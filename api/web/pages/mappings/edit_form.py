"""The form of the mapping editor: four documents, and the number of the set with which the edit
began.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from api.entity_tag import Precondition, TagList
from api.errors import BadRequest
from api.web.forms import Form
from api.web.views.mappings import SHORT_NAMES


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of the mapping documents as typed.

    base    number of the set that the edit began with
    bodies  dataId → text; a document without text is absent
    """

    base: int
    bodies: Mapping[str, str]

    @property
    def precondition(self) -> Precondition:
        """Return the condition that `base` is still the number of the active set."""
        if not self.base:
            return Precondition(if_none_match=TagList(frozenset(), any=True))
        return Precondition(if_match=TagList(frozenset([str(self.base)])))


def read_edit(form: Form, base_bodies: Mapping[str, str]) -> Edit:
    """Return the edit in a form. Raises BadRequest if the number of the set is missing or invalid.

    Browsers send each line break as CR and LF. A document that differs from the text in
    `base_bodies` only in that gets the text of `base_bodies`.
    """
    number = form.number("base", "The number of the set")
    if number < 0:
        raise BadRequest(f"There is no set {number}.")
    bodies = {}
    for name, data_id in SHORT_NAMES.items():
        text, former = _unix(form[name]), base_bodies.get(data_id, "")
        if text.strip():
            bodies[data_id] = former if text == _unix(former) else text
    return Edit(number, bodies)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

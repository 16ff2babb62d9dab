"""The form of an edit: four documents, and the number of the set that they were made from."""

from collections.abc import Mapping
from dataclasses import dataclass

from api.entity_tag import Precondition, TagList
from api.errors import BadRequest
from api.web.forms import Form
from api.web.views.mappings import SHORT_NAMES


@dataclass(frozen=True, slots=True)
class Edit:
    """The typed edit.

    base    number of the set that the edit began with
    bodies  dataId → text; a document without text does not exist
    """

    base: int
    bodies: Mapping[str, str]

    @property
    def precondition(self) -> Precondition:
        """Return the condition that the set is still the one in force."""
        if not self.base:
            return Precondition(if_none_match=TagList(frozenset(), any=True))
        return Precondition(if_match=TagList(frozenset([str(self.base)])))


def read_edit(form: Form, base_bodies: Mapping[str, str]) -> Edit:
    """Read the form. Raises BadRequest.

    Browsers send each line break as CR and LF. A document whose text is the base's otherwise is
    the base's, byte for byte.
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

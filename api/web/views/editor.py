"""Computes the data of the templates of the mapping editor and its dry run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.models.problem import MappingProblemView
from api.services.mappings.routing_views import RouteEffect
from api.web.views.mappings import SHORT_NAMES

_KINDS: Final = (
    ("left_out", "Left out from now on"),
    ("stopped", "Stop their instance"),
    ("renamed", "Renamed, keys change"),
    ("moved", "Move to another topic"),
    ("retagged", "Get other tags"),
    ("covered", "Newly published"),
)
_LEAST_LINES: Final = 6
_WRAPPED_CHARACTERS: Final = 60
"""Of a document on one line, about so many are in one row of the field."""


@dataclass(frozen=True, slots=True)
class DocumentShown:
    """One document in the editor. `bad` has the numbers of the lines that have problems."""

    name: str
    data_id: str
    text: str
    version: int | None
    problems: int
    bad: frozenset[int]

    @property
    def lines(self) -> int:
        """Return the number of lines of the text."""
        return self.text.count("\n") + 1

    @property
    def rows(self) -> int:
        """Return the height of the text field in lines."""
        wrapped = len(self.text) // _WRAPPED_CHARACTERS if self.lines == 1 else 0
        return max(_LEAST_LINES, self.lines + 1 + wrapped)


def documents_shown(
    bodies: Mapping[str, str], versions: Mapping[str, int], problems: Sequence[MappingProblemView]
) -> list[DocumentShown]:
    """Return the four documents, each with its active version and its problems.

    bodies    dataId → text
    versions  dataId → number of the active version
    """
    counts = Counter(each.data_id for each in problems)
    return [
        DocumentShown(
            name,
            data_id,
            bodies.get(data_id, ""),
            versions.get(data_id),
            counts[data_id],
            frozenset(each.line for each in problems if each.data_id == data_id and each.line),
        )
        for name, data_id in SHORT_NAMES.items()
    ]


def first_changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the short name of the first document that an edit changes; that of `dbs` if there is
    none.
    """
    changed = (name for name, key in SHORT_NAMES.items() if before.get(key) != after.get(key))
    return next(changed, next(iter(SHORT_NAMES)))


def kind_counts(changes: Iterable[RouteEffect]) -> list[tuple[str, int]]:
    """Return (title, number of tables) for each kind of change that occurs."""
    tables: dict[str, set[str]] = {}
    for each in changes:
        tables.setdefault(each.kind, set()).update(each.tables)
    return [(title, len(tables[kind])) for kind, title in _KINDS if kind in tables]

"""Computes the effect of renames on column names. The functions are pure; the names are in lower
case.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from relay.envelope import parse_renamed

Names: TypeAlias = Mapping[str, str]
"""Old name in lower case → new name, for the columns of one ALTER TABLE. All are renamed in one
step.
"""


class Rename(NamedTuple):
    """An ALTER TABLE that renames columns: its order key, and its message's header `renamed`."""

    order: str
    text: str


class Span(NamedTuple):
    """Changes with `low <= order key < high`, and the names that later renames give to their
    columns.

    `names` maps a lower-case name to the new name; None: another column has got this name.
    """

    low: str
    high: str
    names: Mapping[str, str | None]


def names_of(text: str) -> Names:
    """Return the names in a `renamed` header, without renames that change only upper and lower
    case.

    Raises ValueError for a malformed header.
    """
    return {
        each.old.lower(): each.new
        for each in parse_renamed(text)
        if each.old.lower() != each.new.lower()
    }


def renamed_by(renames: Sequence[Names]) -> Mapping[str, str | None]:
    """Return the final name of each name in successive renames. Unchanged names are omitted."""
    mentioned = {name.lower() for names in renames for pair in names.items() for name in pair}
    found = {name: _followed(name, renames) for name in sorted(mentioned)}
    return {name: new for name, new in found.items() if new is None or new.lower() != name}


def spans(renames: Sequence[Rename]) -> Iterator[Span]:
    """Yield ranges of order keys, with the new names of the columns for the changes in each range.

    `renames` are all renames of one real table. Changes after the last rename are in no range;
    their columns keep their names.
    """
    ordered = sorted(renames)
    names = [names_of(each.text) for each in ordered]
    for number, (low, high) in enumerate(pairwise(["", *(each.order for each in ordered)])):
        yield Span(low, high, renamed_by(names[number:]))


def _followed(name: str, renames: Sequence[Names]) -> str | None:
    for names in renames:
        if name.lower() in names:
            name = names[name.lower()]
        elif name.lower() in {new.lower() for new in names.values()}:
            return None
    return name

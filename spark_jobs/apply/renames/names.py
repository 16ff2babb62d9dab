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
    """An ALTER TABLE that renames columns.

    order  order key of the statement
    text   value of the header `renamed` in its message
    """

    order: str
    text: str


class Span(NamedTuple):
    """A range of order keys, and the names that later renames give to the columns of changes in it.

    low    smallest order key of the range
    high   order key of the next rename, which is not in the range
    names  name in lower case → new name. None: the column was removed, and another column got its
           name
    """

    low: str
    high: str
    names: Mapping[str, str | None]


def names_of(text: str) -> Names:
    """Return the renames in a header `renamed`: old name in lower case → new name.

    A rename that changes only upper and lower case is omitted. Raises ValueError for a malformed
    header.
    """
    return {
        each.old.lower(): each.new
        for each in parse_renamed(text)
        if each.old.lower() != each.new.lower()
    }


def renamed_by(renames: Sequence[Names]) -> Mapping[str, str | None]:
    """Return the effect of successive renames together: first name in lower case → last name.

    Names that stay the same are omitted. None: the column was removed, and another column got its
    name.
    """
    mentioned = {name.lower() for names in renames for pair in names.items() for name in pair}
    found = {name: _followed(name, renames) for name in sorted(mentioned)}
    return {name: new for name, new in found.items() if new is None or new.lower() != name}


def spans(renames: Sequence[Rename]) -> Iterator[Span]:
    """Yield the ranges of order keys between the renames of one real table, with the new names in
    each.

    A change whose order key is in a range gets the names of the range. A change after the last
    rename is in no range, because it already has the newest names.
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

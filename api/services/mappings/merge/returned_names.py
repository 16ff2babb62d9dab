"""Prevents a merge from adding real names again that the other editor has removed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from relay.route.names import NameRefused, split_outside_slashes

_Entry: TypeAlias = Mapping[str, Any]


def without_returned(
    key: str, sides: Sequence[Mapping[str, list[_Entry]]], result: list[_Entry]
) -> tuple[list[_Entry], list[_Entry]]:
    """Return the entries of a merge without names that `theirs` removed, and the entries that had
    such a name.

    key     the field of an entry that has the list of names
    sides   the documents base, mine and theirs, in this order, each as key → entries
    result  the entries of the merge
    """
    base, _, theirs = (_all_names(key, side.values()) for side in sides)
    gone = base - theirs
    kept: list[_Entry] = []
    changed: list[_Entry] = []
    for entry in result:
        names = _read(entry.get(key))
        if names is None or gone.isdisjoint(names):
            kept.append(entry)
            continue
        changed.append(entry)
        left = [each for each in names if each not in gone]
        if left:
            kept.append({**entry, key: left if isinstance(entry[key], list) else ",".join(left)})
    return kept, changed


def names_of(value: object) -> list[str] | None:
    """Return the names in a list of texts or in a comma-separated text; None for any other value.

    Raises NameRefused for a text with an expression that does not end.
    """
    if isinstance(value, str):
        return split_outside_slashes(value, ",")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    return None


def _all_names(key: str, groups: Iterable[list[_Entry]]) -> set[str]:
    return {name for group in groups for entry in group for name in _read(entry.get(key)) or []}


def _read(value: object) -> list[str] | None:
    try:
        return names_of(value)
    except NameRefused:
        return None

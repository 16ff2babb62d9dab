"""Applying one person's edit to a set that another one has saved meanwhile, entry by entry."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from api.middleware.request_body import pretty_document
from relay.route import DATA_IDS, DBS, TAGS, TBS, TOPICS
from relay.route.names import NameRefused, split_outside_slashes

_KEYS: Final = {DBS: "logicDb", TBS: "logicTb", TOPICS: "logicDb", TAGS: "logicTb"}
_NAME_LISTS: Final = {DBS: "realDbs", TBS: "realTbs"}
"""Lists without an order: names that both sides add or remove are joined."""

_Entry: TypeAlias = Mapping[str, Any]
_Entries: TypeAlias = dict[tuple[str, int], _Entry]
"""Entries by the text of their key, and a number where several have the same."""


@dataclass(frozen=True, slots=True)
class Clash:
    """An entry that both sides changed: the saved one is kept, and the user's is reported.

    Empty: removed.
    """

    data_id: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The active set with an edit applied to it.

    unread  documents of the edit that are not lists of objects; they were not applied
    """

    bodies: Mapping[str, str]
    clashes: tuple[Clash, ...]
    unread: tuple[str, ...]


def merged(base: Mapping[str, str], mine: Mapping[str, str], theirs: Mapping[str, str]) -> Merged:
    """Apply the changes of `mine` since `base` to `theirs`."""
    bodies: dict[str, str] = {}
    clashes: list[Clash] = []
    unread: list[str] = []
    for data_id in DATA_IDS:
        texts = [each.get(data_id, "") for each in (base, mine, theirs)]
        try:
            text, found = _document(data_id, *texts)
        except ValueError:
            text, found = texts[1], []
            unread.append(data_id)
        clashes += found
        if text:
            bodies[data_id] = text
    return Merged(bodies, tuple(clashes), tuple(unread))


def _document(data_id: str, base: str, mine: str, theirs: str) -> tuple[str, list[Clash]]:
    """Return the text and the clashes.

    Raises ValueError for a text that is not a list of objects.
    """
    if mine in (base, theirs):
        return theirs, []
    if theirs == base:
        return mine, []
    sides = [_entries(data_id, text) for text in (base, mine, theirs)]
    result: list[_Entry] = []
    clashes: list[Clash] = []
    for key in dict.fromkeys([*sides[2], *sides[1], *sides[0]]):
        old, my, their = (side.get(key) for side in sides)
        entry = _entry(data_id, old, my, their)
        if entry is _BOTH:
            clashes.append(Clash(data_id, _written(my), _written(their)))
            entry = their
        if entry is not None:
            result.append(entry)
    return pretty_document(result), clashes


_BOTH: Final[_Entry] = {}
"""Both sides changed the entry, and not in the same way."""


def _entry(
    data_id: str, base: _Entry | None, mine: _Entry | None, theirs: _Entry | None
) -> _Entry | None:
    if mine == base:
        return theirs
    if theirs in (base, mine):
        return mine
    lists = _NAME_LISTS.get(data_id)
    if lists is None or base is None or mine is None or theirs is None:
        return _BOTH
    rest = [{key: each[key] for key in each if key != lists} for each in (base, mine, theirs)]
    try:
        names = [_names(each.get(lists)) for each in (base, mine, theirs)]
    except NameRefused:
        return _BOTH
    if not rest[0] == rest[1] == rest[2] or any(each is None for each in names):
        return _BOTH
    joined = _joined(*(each or [] for each in names))
    return {**theirs, lists: joined if isinstance(theirs[lists], list) else ",".join(joined)}


def _joined(base: list[str], mine: list[str], theirs: list[str]) -> list[str]:
    removed = set(base) - set(mine)
    kept = [each for each in theirs if each not in removed]
    return [*kept, *(each for each in mine if each not in base and each not in kept)]


def _names(value: object) -> list[str] | None:
    if isinstance(value, str):
        return split_outside_slashes(value, ",")
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    return None


def _entries(data_id: str, text: str) -> _Entries:
    parsed = json.loads(text) if text.strip() else []
    if not isinstance(parsed, list) or not all(isinstance(each, dict) for each in parsed):
        raise ValueError("not a list of objects")
    return dict(_keyed(parsed, _KEYS[data_id]))


def _keyed(entries: Iterable[_Entry], key: str) -> Iterable[tuple[tuple[str, int], _Entry]]:
    met = Counter[str]()
    for entry in entries:
        text = json.dumps(entry.get(key))
        yield (text, met[text]), entry
        met[text] += 1


def _written(entry: _Entry | None) -> str:
    return "" if entry is None else json.dumps(entry, ensure_ascii=False)

"""Applies one user's edit to a set that another user has saved meanwhile, entry by entry."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from api.middleware.request_body import pretty_document
from api.services.mappings.merge.returned_names import names_of, without_returned
from relay.route import DATA_IDS, DBS, TAGS, TBS, TOPICS
from relay.route.names import NameRefused, split_outside_slashes

_KEYS: Final = {DBS: "logicDb", TBS: "logicTb", TOPICS: "logicDb", TAGS: "logicTb"}
_NAME_LISTS: Final = {DBS: "realDbs", TBS: "realTbs"}
"""Lists without an order: names that both sides add or remove are joined."""

_Entry: TypeAlias = Mapping[str, Any]
_Entries: TypeAlias = dict[str, list[_Entry]]
"""Entries by the text of their key; several may have the same one."""


@dataclass(frozen=True, slots=True)
class Clash:
    """An entry that both users changed. The merge keeps the saved entry, and reports the user's
    own.

    data_id  the document
    mine     the entry of the user who saves now, as JSON; "": this user removed the entry
    theirs   the entry that the other user has saved, as JSON; "": the other user removed the entry
    """

    data_id: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The active set with an edit applied to it.

    bodies   dataId → text
    clashes  entries that both users changed, and entries with a name that the other user removed
    unread   documents that cannot be merged because they are not lists of objects; in `bodies` they
             have the text of the user who saves now
    """

    bodies: Mapping[str, str]
    clashes: tuple[Clash, ...]
    unread: tuple[str, ...]


def merged(base: Mapping[str, str], mine: Mapping[str, str], theirs: Mapping[str, str]) -> Merged:
    """Return the saved documents with the edit of the user who saves now. Every mapping is dataId →
    text.

    base    the documents at which the edit began
    mine    the documents of this user; the differences from `base` are the edit
    theirs  the documents that another user has saved since
    """
    bodies: dict[str, str] = {}
    clashes: list[Clash] = []
    unread: list[str] = []
    for data_id in DATA_IDS:
        texts = [each.get(data_id, "") for each in (base, mine, theirs)]
        try:
            text, found = _document(data_id, *texts)
            "".join((text, *(each.mine + each.theirs for each in found))).encode()
        except (ValueError, RecursionError):  # also half of a surrogate pair
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
        old, my, their = (side.get(key, []) for side in sides)
        entries = _same_key(data_id, old, my, their)
        if entries is None:
            clashes.append(Clash(data_id, _written(my), _written(their)))
            entries = their
        result += entries
    if data_id in _NAME_LISTS:
        result, brought_back = without_returned(_NAME_LISTS[data_id], sides, result)
        clashes += [Clash(data_id, _written([each]), "") for each in brought_back]
    return pretty_document(result), clashes


def _same_key(
    data_id: str, base: list[_Entry], mine: list[_Entry], theirs: list[_Entry]
) -> list[_Entry] | None:
    """Return the entries of one key, None if both sides changed the same one differently."""
    if max(map(len, (base, mine, theirs))) > 1:
        return _several(base, mine, theirs)
    old, my, their = (next(iter(each), None) for each in (base, mine, theirs))
    entry = _entry(data_id, old, my, their)
    if entry is _BOTH:
        return None
    return [] if entry is None else [entry]


def _several(base: list[_Entry], mine: list[_Entry], theirs: list[_Entry]) -> list[_Entry] | None:
    """Join entries of one key, which add up: each side removes and adds whole entries."""
    removed, removed_too = (_less(base, side) for side in (mine, theirs))
    added, added_too = (_less(side, base) for side in (mine, theirs))
    if added != added_too and any(each in removed_too for each in removed):
        return None
    return [*_less(theirs, removed), *_less(added, added_too)]


def _less(entries: Iterable[_Entry], others: Iterable[_Entry]) -> list[_Entry]:
    """Return the entries without the others, one for one."""
    left = list(others)
    found = []
    for each in entries:
        if each in left:
            left.remove(each)
        else:
            found.append(each)
    return found


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
        names = [names_of(each.get(lists)) for each in (base, mine, theirs)]
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


def _entries(data_id: str, text: str) -> _Entries:
    parsed = json.loads(text) if text.strip() else []
    if not isinstance(parsed, list) or not all(isinstance(each, dict) for each in parsed):
        raise ValueError("not a list of objects")
    found: _Entries = {}
    for entry in parsed:
        found.setdefault(_key(data_id, entry), []).append(entry)
    return found


def _key(data_id: str, entry: _Entry) -> str:
    """Return the identity of an entry. For tags it is the table, because an edit may change the
    fields.
    """
    name = entry.get(_KEYS[data_id])
    if data_id == TAGS and isinstance(name, str):
        with suppress(NameRefused):
            name = split_outside_slashes(name, ",")[0]
    return json.dumps(name)


def _written(entries: Iterable[_Entry]) -> str:
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in entries)

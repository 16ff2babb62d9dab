"""Describes what an edit of the mapping changes, in sentences for its author before the save."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from relay.errors import UnmappedName
from relay.model.names.first_names import first_names
from relay.model.table import TableId
from relay.route.effort import MOST_STEPS
from relay.route.mapping import MappingSet
from relay.route.router import Destination, Router

# A sentence names at most this many tables and counts the others. `tables` has all of them.
_NAMED_TABLES = 3
_MOST_NAMED_TABLES = 20_000
"""Largest number of tables that one report compares. That takes less than a second."""


ChangeKind: TypeAlias = Literal[
    "left_out", "stopped", "covered", "moved", "renamed", "retagged", "note"
]
"""The effect of an edit on tables. A note has no effect on tables."""


@dataclass(frozen=True, slots=True)
class RouteChange:
    """A sentence about a change of routes, and the real tables that it is about, sorted by name."""

    sentence: str
    tables: tuple[TableId, ...]
    kind: ChangeKind = "note"


@dataclass(frozen=True, slots=True)
class _Fate:
    """How one table is routed: its destination, or the reason why it has none.

    `stops`: the reason stops the instance.
    """

    destination: Destination | None
    why_not: str = ""
    stops: bool = False


def where(router: Router, real: TableId) -> str:
    """Return a sentence that says where the rows of a real table are published, or why they are
    not.
    """
    fate = _fate(router, real)
    if fate.destination is None:
        return f"{real} is {fate.why_not}"
    goes = fate.destination
    sentence = (
        f"{real} is published as {goes.logical} to {_topics(goes)}, "
        f"tagged {', '.join(goes.tags.table)}"
    )
    fields = ", ".join(f"{tag} when {field} changes" for field, tag in goes.tags.fields)
    return f"{sentence}{f', {fields}' if fields else ''}."


def changes(before: Router, after: Router, tables: Iterable[TableId]) -> list[RouteChange]:
    """Return what changes for the real `tables`, grouped by change, the largest group first.

    Tables without a change are omitted.
    """
    groups: dict[tuple[str, ChangeKind], list[TableId]] = {}
    for real in sorted(set(tables), key=str):
        for kind, sentence in _sentences(_fate(before, real), _fate(after, real)):
            groups.setdefault((sentence, kind), []).append(real)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [
        RouteChange(f"{_subject(group)}: {sentence}", tuple(group), kind)
        for (sentence, kind), group in ordered
    ]


def left_out_of_report(sets: Iterable[MappingSet]) -> tuple[RouteChange, ...]:
    """Return a note if the documents name too many tables to compare each of them; () otherwise.

    The tables are counted without being listed.
    """
    for mapping in sets:
        count = mapping.count_of_named_tables
        if count > _MOST_NAMED_TABLES or count * mapping.steps_per_table > MOST_STEPS:
            sentence = (
                f"The documents name up to {count} tables, too many to compare each: this report "
                f"covers the tables that relays have read or that the request names."
            )
            return (RouteChange(sentence, ()),)
    return ()


def _fate(router: Router, real: TableId) -> _Fate:
    try:
        route = router.route(real)
    except UnmappedName as exc:
        return _Fate(None, f"a reason to stop the instance: {exc.reason}", stops=True)
    return (
        _Fate(route) if isinstance(route, Destination) else _Fate(None, f"left out: {route.reason}")
    )


def _sentences(before: _Fate, after: _Fate) -> list[tuple[ChangeKind, str]]:
    """Return the changes between two routes as sentences that fit one or many tables."""
    if before == after:
        return []
    if after.destination is None:
        return [("stopped" if after.stops else "left_out", f"now {after.why_not}")]
    if before.destination is None:
        goes = f"{after.destination.logical} to {_topics(after.destination)}"
        return [("covered", f"newly published as {goes}.")]
    return _moves(before.destination, after.destination)


def _moves(old: Destination, new: Destination) -> list[tuple[ChangeKind, str]]:
    found: list[tuple[ChangeKind, str]] = []
    if old.topics != new.topics:
        found.append(("moved", f"moved from {_topics(old)} to {_topics(new)}."))
    if old.logical != new.logical:
        renamed = f"renamed from {old.logical} to {new.logical}"
        found.append(("renamed", f"{renamed}: keys and partitions of their rows change."))
    if old.tags != new.tags:
        found.append(("retagged", f"tagged {_tags(new)} instead of {_tags(old)}."))
    return found


def _subject(tables: list[TableId]) -> str:
    named = first_names(tables, _NAMED_TABLES)
    return f"{len(tables)} real table{'s' if len(tables) > 1 else ''} ({named})"


def _topics(destination: Destination) -> str:
    kind = "topic" if len(destination.topics) == 1 else "topics"
    return f"{kind} {', '.join(destination.topics)}"


def _tags(destination: Destination) -> str:
    return ", ".join(
        (*destination.tags.table, *(f"{tag} ({field})" for field, tag in destination.tags.fields))
    )

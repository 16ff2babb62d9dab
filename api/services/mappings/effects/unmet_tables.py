"""Warns of tables that an edit newly names and that no relay has read, although relays have read
others of their databases: the names are probably misspelt.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from api.services.mappings.routing_views import RouteEffect
from relay.model.table import TableId
from relay.route import MappingSet
from relay.settings import nearest

_TOLD: Final = 20
"""Largest number of reported names: each is compared with all known tables."""
_NOT_LISTED: Final = (
    "Further tables that the mapping newly names and no instance has read are not listed."
)


def unmet_tables(
    before: MappingSet, after: MappingSet, met: Mapping[str, Iterable[TableId]]
) -> Iterator[RouteEffect]:
    """Yield a warning for each newly named table that no relay has read, if relays have read other
    tables of its database.

    before  the mapping set without the edit
    after   the mapping set with the edit
    met     instance → the real tables that it has read
    """
    warnings = (
        warning
        for name, databases in sorted(_newly_named(before, after).items())
        if (warning := _warning(name, databases, met)) is not None
    )
    yield from islice(warnings, _TOLD)
    if next(warnings, None) is not None:
        yield RouteEffect((), _NOT_LISTED, ())


def _newly_named(before: MappingSet, after: MappingSet) -> Mapping[str, set[str]]:
    """Return the databases of each newly named table, by the table's name."""
    named = defaultdict[str, set[str]](set)
    for table in {*after.named_tables} - {*before.named_tables}:
        named[table.table].add(table.database)
    return named


def _warning(
    name: str, databases: set[str], met: Mapping[str, Iterable[TableId]]
) -> RouteEffect | None:
    """Return None if an instance has read the table, or nothing else of its databases."""
    there = {
        instance: {each.table for each in tables if each.database in databases}
        for instance, tables in met.items()
    }
    known = frozenset().union(*there.values())
    if not known or name in known:
        return None
    near = nearest(name, sorted(known))
    hint = (
        f"did you mean {near}?"
        if near is not None
        else "check the spelling, unless the table will be created later."
    )
    where = f"{len(databases)} databases" if len(databases) > 1 else next(iter(databases))
    return RouteEffect(
        tuple(instance for instance, tables in there.items() if tables),
        f"The mapping newly names the table {name} of {where}, which no instance has read: {hint}",
        tuple(sorted(f"{database}.{name}" for database in databases)),
    )

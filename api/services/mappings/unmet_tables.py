"""Real tables that an edit newly names and that no instance has met, although it has met others of
their databases: slips of the pen.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from api.services.mappings.routing_views import Change
from relay.model.table import TableId
from relay.route import MappingSet
from relay.settings import nearest

_TOLD: Final = 20
"""So many names are told of: each is compared with all known tables."""


def unmet_tables(
    before: MappingSet, after: MappingSet, met: Mapping[str, Iterable[TableId]]
) -> Iterator[Change]:
    """Yield a warning for each such name; `met`: instance → the real tables that it has met."""
    told = 0
    named = defaultdict[str, set[str]](set)
    for table in {*after.named_tables} - {*before.named_tables}:
        named[table.table].add(table.database)
    for name, databases in sorted(named.items()):
        there = {
            instance: {each.table for each in tables if each.database in databases}
            for instance, tables in met.items()
        }
        known = frozenset().union(*there.values())
        if not known or name in known:
            continue
        told += 1
        if told > _TOLD:
            yield Change(
                (),
                (
                    "Further tables that the mapping newly names and no instance has met are not "
                    "listed."
                ),
                (),
            )
            return
        near = nearest(name, sorted(known))
        meant = (
            f"did you mean {near}?"
            if near is not None
            else "check the spelling, unless it is still to come."
        )
        where = f"{len(databases)} databases" if len(databases) > 1 else next(iter(databases))
        instances = tuple(instance for instance, tables in there.items() if tables)
        tables = tuple(sorted(f"{database}.{name}" for database in databases))
        yield Change(
            instances,
            (
                f"The mapping newly names the table {name} of {where}, which no instance has "
                f"met: {meant}"
            ),
            tables,
        )

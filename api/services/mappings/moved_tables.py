"""Logical tables that an edit lets another instance feed: rows that move with them need greater
order keys than before.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

from api.services.mappings.routing_views import Change
from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route import Destination, MappingSet, Router, TableFilter
from relay.settings import InstanceSettings

_LISTED = 3
"""A sentence names this many tables or databases and counts the rest."""


def moved_tables(
    instances: Sequence[InstanceSettings],
    before: MappingSet,
    after: MappingSet,
    met: Mapping[str, Sequence[TableId]],
) -> list[Change]:
    """Return a hint per pair of instances whose floor must be raised before rows move from one to
    the other.

    `met`: instance → the real tables that it has met. Instances with key_scope = "shard" are left
    out: there the key holds the real table, so rows of two shards never meet.
    """
    feeding = [
        _Feeding(each, before, after, met[each.name])
        for each in instances
        if each.routing.key_scope != "shard"
    ]
    moved = [hint for one, two in permutations(feeding, 2) for hint in _moved(one, two)]
    return [*moved, *_unmet_databases(feeding, before, after)]


class _Feeding:
    """The logical tables that one instance feeds, each with its real tables, before an edit and
    after it.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        before: MappingSet,
        after: MappingSet,
        met: Sequence[TableId],
    ) -> None:
        self.name = instance.name
        self.databases = frozenset(each.database for each in met)
        accepts = TableFilter(instance.filter).accepts
        passing = [each for each in met if accepts(each)]
        self.before = _fed(Router(before, instance.routing), passing)
        self.after = _fed(Router(after, instance.routing), passing)


def _moved(one: _Feeding, two: _Feeding) -> Iterator[Change]:
    """Yield a hint where `two` newly feeds what `one` feeds under the set in force."""
    newly = sorted(
        (each for each in two.after.keys() - two.before.keys() if each in one.before), key=str
    )
    if not newly:
        return
    ended = all(each not in one.after for each in newly)
    what = (
        f"moves from {one.name} to {two.name}"
        if ended
        else f"is fed by {one.name}, and newly by {two.name} too"
    )
    sentence = f"{_listed(newly)} {what}: {_before_rows_move(one.name, two.name)}"
    yield Change(
        (one.name, two.name),
        sentence,
        tuple(sorted(str(real) for each in newly for real in two.after[each])),
    )


def _unmet_databases(
    feeding: Sequence[_Feeding], before: MappingSet, after: MappingSet
) -> Iterator[Change]:
    """Yield a hint where newly mapped databases that no instance has met feed a logical one: any
    instance may be the one to bring them.
    """
    met = frozenset().union(*(each.databases for each in feeding))
    newly: dict[str, list[str]] = {}
    for database in sorted(after.named_databases - before.named_databases - met):
        newly.setdefault(after.logical_database(database) or "", []).append(database)
    for logical, databases in newly.items():
        feeders = tuple(
            each.name for each in feeding if any(table.database == logical for table in each.before)
        )
        if feeders and len(feeding) > 1:
            names = " and ".join(feeders)
            yield Change(
                feeders,
                f"No instance has met {_listed(databases)} yet, and {names} feeds {logical}. If "
                f"another instance than {names} will read "
                f"it: {_before_rows_move(feeders[0], 'INSTANCE')}",
                (),
            )


def _before_rows_move(one: str, two: str) -> str:
    return (
        f"before rows move there, stop their writes, wait until {one} has published them, and run "
        f"`roma position raise-floor {two} --above {one}`. Otherwise readers may take later "
        f"changes for older ones."
    )


def _fed(router: Router, tables: Iterable[TableId]) -> Mapping[TableId, list[TableId]]:
    found: dict[TableId, list[TableId]] = {}
    for real in tables:
        try:
            route = router.route(real)
        except UnmappedName:
            continue
        if isinstance(route, Destination):
            found.setdefault(route.logical, []).append(real)
    return found


def _listed(names: Sequence[object]) -> str:
    named = ", ".join(map(str, names[:_LISTED]))
    return f"{named} and {len(names) - _LISTED} more" if len(names) > _LISTED else named

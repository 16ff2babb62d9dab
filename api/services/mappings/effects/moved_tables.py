"""Finds logical tables to which another instance publishes after an edit.

Before rows move to that instance, its order keys must be raised above those of the former one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

from api.services.mappings.routers import Routers
from api.services.mappings.routing_views import RouteEffect
from relay.model.names.first_names import first_names
from relay.model.table import TableId
from relay.route import MappingSet, Router
from relay.settings import InstanceSettings

_LISTED = 3
"""A sentence names this many tables or databases and counts the rest."""


def moved_tables(
    instances: Sequence[InstanceSettings],
    before: MappingSet,
    after: MappingSet,
    met: Mapping[str, Sequence[TableId]],
    routers: Routers | None = None,
) -> list[RouteEffect]:
    """Return a hint for each pair of instances between which logical tables move.

    The hint names the command that raises the order keys of the receiving instance. This command
    must be run before rows move.

    instances  the present instances
    before     the mapping set without the edit
    after      the mapping set with the edit
    met        instance → the real tables that it has read
    routers    routers to reuse; None: new ones are made

    Instances with `key_scope = "shard"` are excluded: their keys contain the real table, so two
    shards never share a key.
    """
    shared = routers or Routers()
    feeding = [
        _Feeding(each, before, after, met[each.name], shared)
        for each in instances
        if each.routing.key_scope != "shard"
    ]
    moved = [
        hint for one, two in permutations(feeding, 2) if two.newly for hint in _moved(one, two)
    ]
    return [*moved, *_unmet_databases(feeding, before, after)]


class _Feeding:
    """The logical tables that one instance feeds, with their real tables, before and after an
    edit.
    """

    def __init__(
        self,
        instance: InstanceSettings,
        before: MappingSet,
        after: MappingSet,
        met: Sequence[TableId],
        routers: Routers,
    ) -> None:
        self.name = instance.name
        self.databases = frozenset(each.database for each in met)
        accepts = routers.filter(instance).accepts
        passing = [each for each in met if accepts(each)]
        self.before = _fed(routers.router(before, instance), passing)
        self.after = _fed(routers.router(after, instance), passing)
        self.newly = self.after.keys() - self.before.keys()


def _moved(one: _Feeding, two: _Feeding) -> Iterator[RouteEffect]:
    """Yield a hint if `two` newly feeds a table that `one` feeds under the active set."""
    newly = sorted((each for each in two.newly if each in one.before), key=str)
    if not newly:
        return
    ended = all(each not in one.after for each in newly)
    what = (
        f"moves from {one.name} to {two.name}"
        if ended
        else f"is fed by {one.name}, and newly by {two.name} too"
    )
    sentence = f"{first_names(newly, _LISTED)} {what}: {_before_rows_move(one.name, two.name)}"
    yield RouteEffect(
        (one.name, two.name),
        sentence,
        tuple(sorted(str(real) for each in newly for real in two.after[each])),
    )


def _unmet_databases(
    feeding: Sequence[_Feeding], before: MappingSet, after: MappingSet
) -> Iterator[RouteEffect]:
    """Yield a hint where newly mapped databases that no instance has read feed a logical one: any
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
            yield RouteEffect(
                feeders,
                f"No instance has read {first_names(databases, _LISTED)} yet, and {names} feeds "
                f"{logical}. If another instance than {names} will read "
                f"it: {_before_rows_move(feeders[0], 'INSTANCE')}",
                (),
            )


def _before_rows_move(one: str, two: str) -> str:
    return (
        f"before rows move there, stop their writes, wait until {one} has published them, and "
        f"run `roma position raise-floor {two} --above {one}`. Otherwise readers may treat "
        "later changes as older ones."
    )


def _fed(router: Router, tables: Iterable[TableId]) -> Mapping[TableId, list[TableId]]:
    found: dict[TableId, list[TableId]] = {}
    for real in tables:
        destination = router.destination(real)
        if destination is not None:
            found.setdefault(destination.logical, []).append(real)
    return found

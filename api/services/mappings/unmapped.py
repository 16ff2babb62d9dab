"""Finds real tables that no mapping document lists, although an instance received rows of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from api.models.mappings.unmapped import UnmappedView
from api.readings import LastReading, Reading
from api.services.mappings.likeness import like_columns, tool_table
from api.services.mappings.mapping_archive import MappingArchive
from relay.errors import UnmappedName
from relay.model.table import TableId, tables_named
from relay.operations import DefinedInstances
from relay.route import Dropped, MappingSet, Router, TableFilter
from relay.settings import InstanceSettings, nearest
from relay.state import DroppedName, InstanceStore


class UnmappedTables:
    """Reads the filtered tables of all instances, and compares them with the active set."""

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._defined = defined
        self._last = LastReading[list[UnmappedView]]()

    def listed(self) -> list[UnmappedView]:
        """Return the real tables that the active set does not list, those with the most rows first.

        Raises ActiveSetBroken.
        """
        mapping, defined = self._archive.compiled(), self._defined().settings
        dropped = self._notes.dropped_of([each.name for each in defined])
        known = sorted({each.table for each in mapping.named_tables})
        found = [
            each
            for instance in defined
            for each in _unmapped(instance, mapping, dropped[instance.name], known)
        ]
        return sorted(found, key=lambda each: (-each.rows, each.name, each.instance))

    def known(self) -> Reading[list[UnmappedView]]:
        """Return what `listed` returns, or its last result while ZooKeeper does not answer.

        Raises ActiveSetBroken, and StoreUnreachable if no reading has succeeded yet.
        """
        return self._last.of(self.listed)


def _unmapped(
    instance: InstanceSettings,
    mapping: MappingSet,
    left_out: Iterable[DroppedName],
    known: Sequence[str],
) -> Iterator[UnmappedView]:
    router, accepts = Router(mapping, instance.routing), TableFilter(instance.filter).accepts
    for dropped in left_out:
        for real in filter(accepts, tables_named([dropped.name])):
            if reason := _reason(router, real):
                yield UnmappedView(
                    name=dropped.name,
                    instance=instance.name,
                    reason=reason,
                    rows=dropped.rows,
                    first_seen_ms=dropped.first_ms or None,
                    similar=nearest(real.table, known) or "",
                    like_columns=like_columns(dropped),
                    tool=tool_table(real),
                )


def _reason(router: Router, real: TableId) -> str:
    """Return why no document lists a table; empty for one that is mapped."""
    try:
        route = router.route(real)
    except UnmappedName as exc:
        return exc.reason
    return route.reason if isinstance(route, Dropped) else ""

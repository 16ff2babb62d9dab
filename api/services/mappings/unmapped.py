"""Real tables that rows came of and that no document lists, of all instances."""

from collections.abc import Callable, Iterator

from api.models.mappings.logical_mapping import UnmappedView
from api.services.mappings.mapping_archive import MappingArchive
from relay.errors import UnmappedName
from relay.model.table import TableId, tables_named
from relay.operations import DefinedInstances
from relay.route import Dropped, MappingSet, Router, TableFilter
from relay.settings import InstanceSettings, nearest
from relay.state import InstanceStore


class UnmappedTables:
    """Reads what instances left out, and holds it against the set in force."""

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._defined = defined

    def listed(self) -> list[UnmappedView]:
        """Return the tables that are unmapped still, those with the most rows first.

        Raises SetInForceBroken.
        """
        mapping = self._archive.compiled()
        found = [
            each for instance in self._defined().settings for each in self._of(instance, mapping)
        ]
        return sorted(found, key=lambda each: (-each.rows, each.name, each.instance))

    def _of(self, instance: InstanceSettings, mapping: MappingSet) -> Iterator[UnmappedView]:
        router, accepts = Router(mapping, instance.routing), TableFilter(instance.filter).accepts
        known = sorted({each.table for each in mapping.named_tables})
        for dropped in self._notes.dropped(instance.name):
            for real in filter(accepts, tables_named([dropped.name])):
                if reason := _reason(router, real):
                    yield UnmappedView(
                        name=dropped.name,
                        instance=instance.name,
                        reason=reason,
                        rows=dropped.rows,
                        similar=nearest(real.table, known) or "",
                    )


def _reason(router: Router, real: TableId) -> str:
    """Return why no document lists a table; empty for one that is mapped."""
    try:
        route = router.route(real)
    except UnmappedName as exc:
        return exc.reason
    return route.reason if isinstance(route, Dropped) else ""

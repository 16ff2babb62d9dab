"""The active set as people read it, grouped by logical database, topic or instance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from api.models.mappings.logical_mapping import (
    Grouping,
    LogicalGroupView,
    LogicalTableView,
    LogicalView,
    ShardView,
)
from api.models.mappings.route import FieldTagView
from api.models.problem import MappingProblemView
from api.services.mappings.logical_tables import (
    LogicalMapping,
    LogicalTable,
    Shard,
    logical_mapping,
    published,
)
from api.services.mappings.mapping_archive import MappingArchive
from relay.model.table import tables_named
from relay.operations import DefinedInstances
from relay.route import Documents, MappingSet, problems
from relay.settings import InstanceSettings
from relay.state import InstanceStore, StoredSet

_SHOWN_PROBLEMS: Final = 100


@dataclass(frozen=True, slots=True)
class _Read:
    """The inputs of a logical view; `met` is a digest of the tables that instances have read."""

    documents: Documents
    defined: Sequence[InstanceSettings]
    met: bytes


class LogicalViews:
    """Reads the active set and the tables that relays have read."""

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._defined = defined
        self._kept: tuple[_Read, LogicalMapping] | None = None

    def view(self, by: Grouping) -> LogicalView:
        """Return the active set in groups. Raises SetInForceBroken.

        A set that contradicts itself has its problems and no groups.
        """
        stored = self._archive.in_force()
        found = problems(stored.bodies)[:_SHOWN_PROBLEMS]
        if found:
            listed = MappingProblemView.listed(found, stored.bodies)
            return LogicalView(set=stored.number, by=by, problems=listed)
        return LogicalView(set=stored.number, by=by, groups=grouped(self._whole(stored), by))

    def mapping(self) -> LogicalMapping:
        """Return the active set ungrouped. Raises SetInForceBroken."""
        self._archive.compiled()  # which refuses a set that contradicts itself
        return self._whole(self._archive.in_force())

    def _whole(self, stored: StoredSet) -> LogicalMapping:
        """Return the set with the tables that were seen; the cached one if nothing has changed."""
        defined = self._defined().settings
        met = self._notes.tables_of_each([each.name for each in defined])
        read = _Read(stored.bodies, defined, _digest(met))
        kept = self._kept
        if kept is None or kept[0] != read:
            mapping = MappingSet.compile(stored.number, stored.bodies)
            seen = {
                each.name: published(mapping, each, tables_named(met[each.name]))
                for each in defined
            }
            kept = self._kept = (read, logical_mapping(stored.number, stored.bodies, seen))
        return kept[1]


def _digest(met: Mapping[str, Sequence[str]]) -> bytes:
    """Return a digest of the tables that each instance has read, too many to keep."""
    found = sha256()
    for name, tables in met.items():
        found.update("\n".join((name, *tables, "")).encode())
    return found.digest()


def grouped(mapping: LogicalMapping, by: Grouping) -> list[LogicalGroupView]:
    """Return the groups of a mapping, sorted by name."""
    names = {
        "db": {each.logical for each in mapping.shards},
        "topic": {topic for each in mapping.tables for topic in each.topics},
        "instance": {name for each in mapping.tables for name in each.seen},
    }[by]
    return [_group(mapping, by, name) for name in sorted(names)]


def _group(mapping: LogicalMapping, by: Grouping, name: str) -> LogicalGroupView:
    tables = [each for each in mapping.tables if _table_in(each, by, name)]
    databases = {name} if by == "db" else {each.name.database for each in tables}
    shards = [each for each in mapping.shards if each.logical in databases]
    if by == "instance":
        shards = [each for each in shards if name in each.instances]
    return LogicalGroupView(
        name=name,
        shards=[_shard(each) for each in shards],
        topics=_sorted(topic for each in tables for topic in each.topics),
        instances=_sorted(found for each in shards for found in each.instances),
        tables=[table_view(each, name if by == "instance" else "") for each in tables],
    )


def _table_in(table: LogicalTable, by: Grouping, name: str) -> bool:
    if by == "db":
        return table.name.database == name
    return name in (table.topics if by == "topic" else table.seen)


def _shard(shard: Shard) -> ShardView:
    return ShardView(
        rule=shard.rule,
        logical_database=shard.logical,
        databases=list(shard.databases),
        instances=list(shard.instances),
    )


def table_view(table: LogicalTable, instance: str = "") -> LogicalTableView:
    """Return a table; with an instance its real tables alone are counted."""
    return LogicalTableView(
        logical_database=table.name.database,
        logical_table=table.name.table,
        rules=list(table.rules),
        real_tables=len(table.seen[instance]) if instance else table.real_tables,
        topics=list(table.topics),
        tags=list(table.tags.table),
        field_tags=[FieldTagView(field=name, tag=tag) for name, tag in table.tags.fields],
        instances=[instance] if instance else sorted(table.seen),
    )


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names))

"""The set in force as people read it, grouped by logical database, topic or instance."""

from collections.abc import Callable, Iterable
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
    Seen,
    Shard,
    logical_mapping,
    published,
)
from api.services.mappings.mapping_archive import MappingArchive
from relay.model.table import TableId, tables_named
from relay.operations import DefinedInstances
from relay.route import MappingSet, problems
from relay.state import InstanceStore

_SHOWN_PROBLEMS: Final = 100


class LogicalViews:
    """Reads the set in force and what relays have met."""

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
    ) -> None:
        self._archive = archive
        self._notes = notes
        self._defined = defined

    def view(self, by: Grouping) -> LogicalView:
        """Return the set in force in groups. Raises SetInForceBroken.

        A set that contradicts itself has its problems and no groups.
        """
        stored = self._archive.in_force()
        found = problems(stored.bodies)[:_SHOWN_PROBLEMS]
        if found:
            listed = MappingProblemView.listed(found, stored.bodies)
            return LogicalView(set=stored.number, by=by, problems=listed)
        seen = self._seen(MappingSet.compile(stored.number, stored.bodies))
        whole = logical_mapping(stored.number, stored.bodies, seen)
        return LogicalView(set=stored.number, by=by, groups=grouped(whole, by))

    def mapping(self) -> LogicalMapping:
        """Return the set in force ungrouped. Raises SetInForceBroken."""
        compiled, stored = self._archive.compiled(), self._archive.in_force()
        return logical_mapping(stored.number, stored.bodies, self._seen(compiled))

    def _seen(self, mapping: MappingSet) -> Seen:
        return {
            each.name: published(mapping, each, self._met(each.name))
            for each in self._defined().settings
        }

    def _met(self, instance: str) -> list[TableId]:
        return tables_named(self._notes.tables_of(instance))


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

"""Computes the active mapping set as logical tables, grouped by logical database, topic or
instance.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from api.readings import LastReading, Reading
from api.services.mappings.logical.met_tables import MetTables, MetTablesReader
from api.services.mappings.logical.published_tables import PublishedTables
from api.services.mappings.logical.table_groups import Part, TableGroup, TableGroups
from api.services.mappings.logical.table_rates import Rates, TableRates, TableRatesReader
from api.services.mappings.logical_tables import (
    LogicalMapping,
    LogicalTable,
    Shard,
    logical_mapping,
)
from api.services.mappings.mapping_archive import MappingArchive
from relay.operations import DefinedInstances
from relay.route import Documents, MappingProblem, MappingSet, problems
from relay.settings import InstanceSettings
from relay.state import InstanceStore, StoredSet

_SHOWN_PROBLEMS: Final = 100
EVERYTHING: Final = Part()
NO_RATES: Final = TableRates()


@dataclass(frozen=True, slots=True)
class _Read:
    """The inputs of a logical view."""

    number: int
    documents: Documents
    defined: Sequence[InstanceSettings]
    met: Mapping[str, MetTables]

    def equals(self, other: "_Read") -> bool:
        """Return whether both readings give the same view. Lists of tables are compared by
        identity, because an unchanged list is the same object.
        """
        return (
            (self.number, self.documents) == (other.number, other.documents)
            and self.defined == other.defined
            and all(other.met.get(name) is tables for name, tables in self.met.items())
        )


@dataclass(frozen=True, slots=True)
class _Kept:
    """A logical view, with those of its groups that were requested."""

    read: _Read
    compiled: MappingSet
    mapping: LogicalMapping
    groups: dict[Grouping, TableGroups] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A set that contradicts itself: its number and its problems."""

    number: int
    problems: list[MappingProblemView]


@dataclass(frozen=True, slots=True)
class LogicalPage:
    """One page of the grouped view.

    view         the groups of this page
    entries      number of entries that the filter accepts, on all pages together
    databases    number of logical databases in the whole set
    tables       number of logical tables in the whole set
    real_tables  number of real tables that instances have read
    """

    view: LogicalView
    entries: int = 0
    databases: int = 0
    tables: int = 0
    real_tables: int = 0


class LogicalViews:
    """Computes the logical view of the active set from the tables that relays have read.

    The view is kept until the set, the settings of an instance or a list of tables changes.
    Thread-safe; one thread computes at a time.
    """

    def __init__(
        self,
        archive: MappingArchive,
        notes: InstanceStore,
        defined: Callable[[], DefinedInstances],
        rates: Callable[[], Rates],
    ) -> None:
        self._archive = archive
        self._rates = TableRatesReader(rates)
        self._met = MetTablesReader(notes)
        self._defined = defined
        self._checked: tuple[Documents, list[MappingProblem]] | None = None
        self._kept: _Kept | None = None
        self._last = LastReading[_Kept | _Refused]()
        self._lock = threading.Lock()

    def view(self, by: Grouping) -> LogicalView:
        """Return the logical tables of the active mapping set in groups.

        A set that contradicts itself has `problems` and no groups. Raises ActiveSetBroken if the
        set cannot be read.
        """
        return self.page(by, EVERYTHING).view

    def page(self, by: Grouping, part: Part) -> LogicalPage:
        """Return one page of the logical tables of the active mapping set, in groups.

        A set that contradicts itself has `problems` and no groups. Raises ActiveSetBroken if the
        set cannot be read.
        """
        found = self.known_page(by, part)
        if found.error is not None:
            raise found.error
        return found.value

    def known_page(self, by: Grouping, part: Part) -> Reading[LogicalPage]:
        """Return the same as `page`; while ZooKeeper does not answer, return a page of the mapping
        set that was read last.

        Raises ActiveSetBroken, and StoreUnreachable if no reading has succeeded yet.
        """
        found = self._last.of(self._present)
        return Reading(self._page(found.value, by, part), found.read_ms, found.error)

    def _present(self) -> _Kept | _Refused:
        """Return the active set, read now: with the tables that were seen, or with its
        problems.
        """
        stored = self._archive.active()
        if found := self._problems(stored.bodies):
            listed = MappingProblemView.listed(found, stored.bodies)
            return _Refused(stored.number, listed)
        with self._lock:
            return self._current(stored)

    def _page(self, kept: _Kept | _Refused, by: Grouping, part: Part) -> LogicalPage:
        if isinstance(kept, _Refused):
            return LogicalPage(LogicalView(set=kept.number, by=by, problems=kept.problems))
        with self._lock:
            groups = kept.groups.get(by)
            if groups is None:
                groups = kept.groups[by] = TableGroups(kept.mapping, by)
            rates = self._rates.read(kept.compiled)
        shown, entries = groups.part(part)
        views = [group_view(each, by, rates) for each in shown]
        tables = kept.mapping.tables
        shards = {each.logical for each in kept.mapping.shards}
        databases = shards | {each.name.database for each in tables}
        seen = sum(each.real_tables for each in tables)
        view = LogicalView(set=kept.read.number, by=by, groups=views)
        return LogicalPage(view, entries, len(databases), len(tables), seen)

    def mapping(self) -> LogicalMapping:
        """Return the logical tables of the active mapping set, without groups.

        Raises ActiveSetBroken for a set that cannot be read or contradicts itself.
        """
        stored = self._archive.active()
        if self._problems(stored.bodies):
            self._archive.compiled()  # which refuses a set that contradicts itself
        with self._lock:
            return self._current(stored).mapping

    def _problems(self, documents: Documents) -> list[MappingProblem]:
        checked = self._checked
        if checked is None or checked[0] != documents:
            checked = self._checked = (documents, problems(documents)[:_SHOWN_PROBLEMS])
        return checked[1]

    def _current(self, stored: StoredSet) -> _Kept:
        """Return the set with the tables that were seen; the kept one if nothing has changed."""
        defined = self._defined().settings
        met = self._met.read([each.name for each in defined])
        read = _Read(stored.number, stored.bodies, defined, met)
        kept = self._kept
        if kept is None or not kept.read.equals(read):
            mapping = MappingSet.compile(read.number, read.documents)
            seen = seen_mapping(mapping, read.documents, defined, met)
            kept = self._kept = _Kept(read, mapping, seen)
        return kept


def seen_mapping(
    mapping: MappingSet,
    documents: Documents,
    instances: Iterable[InstanceSettings],
    met: Mapping[str, MetTables],
) -> LogicalMapping:
    """Return the logical view of a set, with the real tables that instances have read.

    mapping    the set, compiled from `documents`
    instances  the instances whose tables are counted
    met        instance → the tables that it has read
    """
    tables = PublishedTables(mapping)
    published = {each.name: tables.of(each, met[each.name]) for each in instances}
    return logical_mapping(mapping, documents, published)


def group_view(group: TableGroup, by: Grouping, rates: TableRates) -> LogicalGroupView:
    """Return the view of a group with the tables of one page.

    group  the group
    by     the grouping; if it is by instance, rates and counts are those of the group's instance
           alone
    rates  the present rates of tables
    """
    instance = group.name if by == "instance" else ""
    return LogicalGroupView(
        name=group.name,
        shards=[_shard(each) for each in group.shards],
        topics=list(group.topics),
        instances=_sorted(found for each in group.shards for found in each.instances),
        accepted=group.accepted,
        tables=[table_view(each, instance, rates) for each in group.tables],
    )


def _shard(shard: Shard) -> ShardView:
    return ShardView(
        rule=shard.rule,
        logical_database=shard.logical,
        databases=list(shard.databases),
        instances=list(shard.instances),
    )


def table_view(
    table: LogicalTable, instance: str = "", rates: TableRates = NO_RATES
) -> LogicalTableView:
    """Return the view of a logical table.

    table     the table
    instance  count only the real tables and the rows of this instance; "": of all instances
    rates     the present rates of tables
    """
    instances = {instance: 1} if instance else table.seen
    rate, is_bound = rates.of(table.name, instances)
    return LogicalTableView(
        logical_database=table.name.database,
        logical_table=table.name.table,
        rules=list(table.rules),
        real_tables=table.seen[instance] if instance else table.real_tables,
        rows_per_second=rate,
        rows_per_second_is_bound=is_bound,
        topics=list(table.topics),
        tags=list(table.tags.table),
        field_tags=[FieldTagView(field=name, tag=tag) for name, tag in table.tags.fields],
        instances=[instance] if instance else sorted(table.seen),
    )


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names))

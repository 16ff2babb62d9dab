"""Finds the logical tables that can be read, their topics, and their names in messages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from relay.errors import NothingToPeek, UnmappedName
from relay.model.table import TableId
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.operations.peek.rows import RowReader
from relay.route import Destination, MappingSet, Router, TableFilter
from relay.settings import FormatName, InstanceSettings, nearest

_FORMAT_READ: Final[FormatName] = "canal-json"
_NEAREST_NAMES = 5
_MOST_NAMED_TABLES = 20_000
"""Tables that no instance has read are listed only if the documents name fewer than this number."""


@dataclass(frozen=True, slots=True)
class PeekTable:
    """A logical table that can be read.

    topics   its topics; each of them has all its messages
    formats  topic → the formats that instances publish there
    printed  its names in messages: the logical name, or real names with `names = "real"`
    reals    instance → its real tables of this logical table
    """

    name: TableId
    topics: tuple[str, ...]
    formats: Mapping[str, frozenset[FormatName]]
    printed: frozenset[TableId]
    reals: Mapping[str, frozenset[TableId]]

    def readable_topic(self) -> str:
        """Return the first topic whose messages can be shown.

        Raises NothingToPeek if all topics have other formats.
        """
        for topic in self.topics:
            if self.formats[topic] == {_FORMAT_READ}:
                return topic
        others = {each for found in self.formats.values() for each in found} - {_FORMAT_READ}
        raise NothingToPeek(
            f"Messages of {self.name} have the format {', '.join(sorted(others))}, and only "
            f"{_FORMAT_READ} is shown.",
            remedy=(
                f"Read the topic with a consumer of its format. To see the rows here, give the "
                f"logical database a second topic with the format {_FORMAT_READ}."
            ),
        )


@dataclass(slots=True)
class _Found:
    topics: dict[str, set[FormatName]] = field(default_factory=dict)
    printed: set[TableId] = field(default_factory=set)
    reals: dict[str, set[TableId]] = field(default_factory=lambda: defaultdict(set))


class PeekTables:
    """All logical tables of one mapping set that can be read."""

    def __init__(
        self,
        mapping: MappingSet,
        instances: Iterable[InstanceSettings],
        met: Callable[[str], Iterable[TableId]],
    ) -> None:
        """`met` returns the real tables that an instance has read."""
        self._instances = tuple(instances)
        found: dict[TableId, _Found] = defaultdict(_Found)
        for instance in self._instances:
            accepts = TableFilter(instance.filter).accepts
            router = Router(mapping, instance.routing)
            for real in filter(accepts, met(instance.name)):
                _note(found, router, instance, real)
        _add_unmet(found, mapping, self._instances)
        self._tables = {
            name: PeekTable(
                name,
                tuple(each.topics),
                {topic: frozenset(formats) for topic, formats in each.topics.items()},
                frozenset(each.printed),
                {instance: frozenset(reals) for instance, reals in each.reals.items()},
            )
            for name, each in sorted(found.items(), key=lambda pair: str(pair[0]))
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all tables, sorted."""
        return tuple(map(str, self._tables))

    def every(self) -> tuple[PeekTable, ...]:
        """Return all tables, sorted by name."""
        return tuple(self._tables.values())

    def table(self, name: str) -> PeekTable:
        """Return a table by its name `database.table`. Raises NothingToPeek with similar names."""
        database, _, table = name.partition(".")
        found = self._tables.get(TableId(database, table))
        if found is None:
            raise NothingToPeek(
                f"There is no logical table {name}{_did_you_mean(name, self.names)}"
            )
        return found

    def has_instance(self, name: str) -> bool:
        """Return whether the settings of the instance `name`, and so its masks, were read."""
        return any(each.name == name for each in self._instances)

    def hidden_columns(self, name: str, real: TableId) -> HiddenColumns:
        """Return which columns of a message are hidden.

        name  the logical table (`database.table`); its masks and rules apply
        real  the real table; the masks and rules of any instance for it apply too

        The masks and rules of the real table apply even if the mapping now gives the table another
        logical name. Raises ConfigurationError.
        """
        reals = {each.name: {real} for each in self._instances}
        for table in self._tables.values():
            of_table = {each for tables in table.reals.values() for each in tables}
            if str(table.name) == name or real in of_table:
                for of_instance in reals.values():
                    of_instance.update(of_table)
        return HiddenColumns(self._instances, reals)

    def reader(self, table: PeekTable) -> RowReader:
        """Return the reader of a table's rows, which hides the hidden columns.

        Raises NothingToPeek if no topic has a supported format, and ConfigurationError.
        """
        hidden = HiddenColumns(self._instances, table.reals)
        return RowReader(table.readable_topic(), table.printed, hidden)


def near_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return at most five known names that are spelled similarly, or whose table has
    the same name.
    """
    left, found = list(known), list[str]()
    table = name.rpartition(".")[2]
    found += [each for each in left if table and each.rpartition(".")[2] == table]
    while len(found) < _NEAREST_NAMES:
        near = nearest(name, [each for each in left if each not in found])
        if near is None:
            break
        found.append(near)
    return tuple(found[:_NEAREST_NAMES])


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    near = near_names(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else "."


def _note(
    found: dict[TableId, _Found], router: Router, instance: InstanceSettings, real: TableId
) -> None:
    try:
        route = router.route(real)
        if not isinstance(route, Destination):
            return
        logical = _logical(router.mapping, real)
    except UnmappedName:
        return
    entry = found[logical]
    for topic in route.topics:
        entry.topics.setdefault(topic, set()).add(instance.format_of(topic))
    entry.printed.add(route.logical)
    entry.reals[instance.name].add(real)


def _add_unmet(
    found: dict[TableId, _Found], mapping: MappingSet, instances: Iterable[InstanceSettings]
) -> None:
    """Add tables of the documents that no instance has read in any database.

    A rule without a database applies to each mapped one. If instances read its tables in some of
    them, the other databases are omitted.
    """
    if mapping.count_of_named_tables >= _MOST_NAMED_TABLES:
        return
    met = {name.table for name in found}
    for instance in instances:
        accepts = TableFilter(instance.filter).accepts
        router = Router(mapping, instance.routing)
        for real in filter(accepts, mapping.named_tables):
            if _logical(mapping, real).table not in met:
                _note(found, router, instance, real)


def _logical(mapping: MappingSet, real: TableId) -> TableId:
    database = mapping.logical_database(real.database)
    if database is None:
        return real
    return TableId(database, mapping.logical_table(real, database) or real.table)

"""The mapping as logical tables: which rules name them, and which real tables were seen of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relay.errors import UnmappedName
from relay.model.names.topic_template import expanded_topics
from relay.model.table import TableId
from relay.route import Destination, Documents, MappingSet, Router, TableFilter, Tags
from relay.route.mapping_document import read_documents
from relay.route.mapping_rules import DatabaseRule, MappingRules, TableRule, read_rules
from relay.settings import InstanceSettings

Seen = Mapping[str, Sequence[TableId]]
"""Instance → the real tables that it has read and publishes."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One name of a realDbs list: a database, or an expression with the databases seen of it."""

    rule: str
    logical: str
    databases: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A logical table. Without rules it has the name of its real tables.

    seen  instance → its real tables of this logical one, each once. Tuples, because sets of one
          table for each pair of an instance and a logical table take most of the admin's memory
    """

    name: TableId
    rules: tuple[str, ...]
    topics: tuple[str, ...]
    tags: Tags
    seen: Mapping[str, tuple[TableId, ...]] = field(default_factory=dict)

    @property
    def real_tables(self) -> int:
        """Return how many real tables were seen, each counted once."""
        return len(frozenset().union(*self.seen.values()))


@dataclass(frozen=True, slots=True)
class LogicalMapping:
    """A mapping set as people read it."""

    shards: tuple[Shard, ...]
    tables: tuple[LogicalTable, ...]


def logical_mapping(number: int, documents: Documents, seen: Seen) -> LogicalMapping:
    """Return the logical view of a set that can come into force. Raises MappingRefused."""
    mapping = MappingSet.compile(number, documents)
    rules = read_rules(read_documents(documents)[0])
    return LogicalMapping(
        tuple(_shard(rule, seen) for rule in rules.databases),
        tuple(_tables(mapping, rules, _grouped(mapping, seen))),
    )


def published(
    mapping: MappingSet, instance: InstanceSettings, met: Iterable[TableId]
) -> list[TableId]:
    """Return the tables that an instance publishes under a set, of those that it has read."""
    router, accepts = Router(mapping, instance.routing), TableFilter(instance.filter).accepts
    return [each for each in met if accepts(each) and _goes_somewhere(router, each)]


def _goes_somewhere(router: Router, real: TableId) -> bool:
    try:
        return isinstance(router.route(real), Destination)
    except UnmappedName:
        return False


def _shard(rule: DatabaseRule, seen: Seen) -> Shard:
    found: dict[str, set[str]] = {
        instance: {each.database for each in tables if rule.real.matches(each.database)}
        for instance, tables in seen.items()
    }
    databases = frozenset().union(*found.values())
    instances = sorted(name for name, theirs in found.items() if theirs)
    return Shard(str(rule.real), rule.logical, tuple(sorted(databases)), tuple(instances))


_Groups = Mapping[TableId, Mapping[str, list[TableId]]]


def _grouped(mapping: MappingSet, seen: Seen) -> _Groups:
    groups: dict[TableId, dict[str, list[TableId]]] = defaultdict(lambda: defaultdict(list))
    for instance, tables in seen.items():
        for real in dict.fromkeys(tables):
            database = mapping.logical_database(real.database)
            if database is not None:
                table = mapping.logical_table(real, database) or real.table
                groups[TableId(database, table)][instance].append(real)
    return groups


def _tables(mapping: MappingSet, rules: MappingRules, groups: _Groups) -> Iterable[LogicalTable]:
    names = set(groups) | _named(rules, groups)
    for name in sorted(names, key=str):
        theirs = [str(rule.real) for rule in rules.tables if _names(rule, name)]
        yield LogicalTable(
            name,
            tuple(dict.fromkeys(theirs)),
            _topics(mapping, name),
            mapping.tags(name),
            {instance: tuple(tables) for instance, tables in groups.get(name, {}).items()},
        )


def _topics(mapping: MappingSet, name: TableId) -> tuple[str, ...]:
    """Return a logical table's topics; a pattern stays as written where it gives no topic."""
    written = mapping.topics(name.database)
    try:
        return expanded_topics(written, name, mapping.tags(name).table)
    except UnmappedName:
        return written


def _named(rules: MappingRules, groups: _Groups) -> set[TableId]:
    """Return the tables that rules name.

    A rule without a database applies to each logical one. Its table is listed where it was seen,
    and everywhere if it was never seen.
    """
    databases = {rule.logical for rule in rules.databases}
    seen = {name.table for name in groups}
    found: set[TableId] = set()
    for rule in rules.tables:
        if rule.logical_database is not None:
            found.add(TableId(rule.logical_database, rule.logical))
        elif rule.logical not in seen:
            found.update(TableId(each, rule.logical) for each in _owners(rule, rules, databases))
    return found


def _owners(rule: TableRule, rules: MappingRules, databases: set[str]) -> set[str]:
    prefix = rule.real.database
    if prefix is None or prefix.expression is not None:
        return databases
    return {each.logical for each in rules.databases if each.real.matches(prefix.text)}


def _names(rule: TableRule, name: TableId) -> bool:
    return rule.logical == name.table and rule.logical_database in (None, name.database)

"""Computes the logical tables of a mapping set: the rules that name them, and the real tables that
instances read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from api.services.mappings.logical.published_tables import Published
from api.services.mappings.logical.seen_tables import (
    ByDatabase,
    SeenTables,
    by_database,
    seen_tables,
)
from relay.errors import UnmappedName
from relay.model.names.topic_template import expanded_topics
from relay.model.table import TableId
from relay.route import Documents, MappingSet, Tags
from relay.route.mapping_document import read_documents
from relay.route.mapping_rules import DatabaseRule, MappingRules, TableRule, read_rules

PublishedByInstance = Mapping[str, Published]
"""Instance → the tables that it publishes, of those that it has read."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One name in a `realDbs` list.

    rule       the name: a database or a regular expression
    logical    the logical database
    databases  real databases that the name matches and that instances have read
    instances  instances that have read one of these databases
    """

    rule: str
    logical: str
    databases: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogicalTable:
    """A logical table. Without a rule that names it, it has the name of its real tables.

    rules   the entries of the documents that name it
    topics  the topics of its rows
    tags    the tags of its messages
    """

    name: TableId
    rules: tuple[str, ...]
    topics: tuple[str, ...]
    tags: Tags
    seen: Mapping[str, int] = field(default_factory=dict)
    """Instance → number of real tables of this logical table that it has read."""
    real_tables: int = 0
    """Number of real tables that instances have read; a table that several of them read counts
    once.
    """


@dataclass(frozen=True, slots=True)
class LogicalMapping:
    """A mapping set as logical tables and shards, for pages and lists."""

    shards: tuple[Shard, ...]
    tables: tuple[LogicalTable, ...]


def logical_mapping(
    mapping: MappingSet, documents: Documents, published: PublishedByInstance
) -> LogicalMapping:
    """Return the logical view of a set.

    mapping    the set, compiled from `documents`
    published  instance → the tables that it publishes
    """
    rules = read_rules(read_documents(documents)[0])
    databases = by_database(published)
    return LogicalMapping(
        _shards(rules.databases, databases),
        tuple(_tables(mapping, rules, seen_tables(databases))),
    )


def _shards(rules: Iterable[DatabaseRule], seen: ByDatabase) -> tuple[Shard, ...]:
    return tuple(_shard(rule, seen) for rule in rules)


def _shard(rule: DatabaseRule, seen: ByDatabase) -> Shard:
    if rule.real.expression is None:
        databases = [rule.real.text] if rule.real.text in seen else []
    else:
        databases = sorted(each for each in seen if rule.real.matches(each))
    instances = {name for each in databases for name in seen[each]}
    return Shard(str(rule.real), rule.logical, tuple(databases), tuple(sorted(instances)))


def _tables(
    mapping: MappingSet, rules: MappingRules, seen: Mapping[TableId, SeenTables]
) -> Iterable[LogicalTable]:
    by_table: dict[str, list[TableRule]] = defaultdict(list)
    for rule in rules.tables:
        by_table[rule.logical].append(rule)
    for name in sorted({*seen, *_named(rules, seen)}, key=str):
        theirs = [str(rule.real) for rule in by_table.get(name.table, ()) if _names(rule, name)]
        found = seen.get(name) or SeenTables()
        yield LogicalTable(
            name,
            tuple(dict.fromkeys(theirs)),
            _topics(mapping, name),
            mapping.tags(name),
            found.counts,
            found.distinct,
        )


def _topics(mapping: MappingSet, name: TableId) -> tuple[str, ...]:
    """Return a logical table's topics; a pattern stays as written where it gives no topic."""
    written = mapping.topics(name.database)
    try:
        return expanded_topics(written, name, mapping.tags(name).table)
    except UnmappedName:
        return written


def _named(rules: MappingRules, seen: Iterable[TableId]) -> set[TableId]:
    """Return the tables that rules name.

    A rule without a database applies to each logical one. Its table is listed where it was seen,
    and everywhere if it was never seen.
    """
    databases = {rule.logical for rule in rules.databases}
    tables = {name.table for name in seen}
    found: set[TableId] = set()
    for rule in rules.tables:
        if rule.logical_database is not None:
            found.add(TableId(rule.logical_database, rule.logical))
        elif rule.logical not in tables:
            found.update(TableId(each, rule.logical) for each in _owners(rule, rules, databases))
    return found


def _owners(rule: TableRule, rules: MappingRules, databases: set[str]) -> set[str]:
    prefix = rule.real.database
    if prefix is None or prefix.expression is not None:
        return databases
    return {each.logical for each in rules.databases if each.real.matches(prefix.text)}


def _names(rule: TableRule, name: TableId) -> bool:
    return rule.logical == name.table and rule.logical_database in (None, name.database)

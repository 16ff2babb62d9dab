"""Finds the entries of the documents that determine the topic and name of a real table."""

from collections.abc import Iterator
from dataclasses import dataclass

from relay.model.table import TableId
from relay.route import DBS, TAGS, TBS, TOPICS, Documents, MappingSet, TextLocations
from relay.route.mapping_document import MappingDocuments, TagEntry, read_documents
from relay.route.mapping_rules import TableRule, read_rules


@dataclass(frozen=True, slots=True)
class MatchingRule:
    """An entry that applies to a table.

    data_id  the document
    pointer  JSON pointer of the entry in the document
    line     line of the entry, from 1
    rule     the name or expression in the entry
    """

    data_id: str
    pointer: str
    line: int
    rule: str


def matching_rules(mapping: MappingSet, documents: Documents, real: TableId) -> list[MatchingRule]:
    """Return the entries of the documents that apply to the real table `real`, in the order dbs,
    tbs, topics, tags.

    `mapping` is the set, compiled from `documents`. Raises UnmappedName if two expressions match
    the table.
    """
    locations = {
        data_id: TextLocations(text) for data_id, text in documents.items() if isinstance(text, str)
    }
    return [
        MatchingRule(data_id, pointer, locations[data_id].of(pointer).line, rule)
        for data_id, pointer, rule in _found(mapping, documents, real)
        if data_id in locations
    ]


def _found(
    mapping: MappingSet, documents: Documents, real: TableId
) -> Iterator[tuple[str, str, str]]:
    read = read_documents(documents)[0]
    rules = read_rules(read)
    database = mapping.logical_database(real.database)
    if database is None:
        return
    for rule in rules.databases:
        exact = rule.real.text == real.database
        if rule.logical == database and (exact or rule.real.matches(real.database)):
            yield DBS, rule.pointer, str(rule.real)
    table = mapping.logical_table(real, database)
    applying = [each for each in rules.tables if _applies(each, real, database, table)]
    prefixed = [each for each in applying if each.prefixed]
    for each in prefixed or applying:
        yield TBS, each.pointer, str(each.real)
    for placed in read.topics:
        if placed.entry.logic_db.strip() == database:
            yield TOPICS, f"/{placed.index}/topic", ",".join(placed.entry.topics)
    yield from _tags(read, TableId(database, table or real.table))


def _applies(rule: TableRule, real: TableId, database: str, table: str | None) -> bool:
    return (
        rule.logical == table
        and rule.real.table.matches(real.table)
        and rule.holds_in(real.database, database)
    )


def _tags(read: MappingDocuments, logical: TableId) -> Iterator[tuple[str, str, str]]:
    for wanted in (str(logical), logical.table):
        found = [each for each in read.tags if _first(each.entry) == wanted]
        if found:
            for each in found:
                yield TAGS, f"/{each.index}", ",".join(each.entry.names)
            return


def _first(entry: TagEntry) -> str:
    return entry.names[0].replace(" ", "") if entry.names else ""

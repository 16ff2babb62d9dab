"""Groups the logical tables of a mapping, and selects a page of them."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from api.models.mappings.logical_mapping import Grouping
from api.services.mappings.logical_tables import LogicalMapping, LogicalTable, Shard


@dataclass(frozen=True, slots=True)
class Part:
    """The requested page. The entries of all pages are the tables of all groups, one group after
    the other.

    words   words in lower case; a table is an entry if each word is in a name of the group or of
            the table
    limit   largest number of entries
    offset  number of entries to skip
    """

    words: tuple[str, ...] = ()
    limit: int = sys.maxsize
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A group with all of its tables, or with those of one page.

    name      name of the group
    shards    the shards of its databases
    topics    the topics of its tables
    tables    the tables
    accepted  number of its tables, on all pages, that the words of the page's filter select
    """

    name: str
    shards: Sequence[Shard]
    topics: Sequence[str]
    tables: Sequence[LogicalTable]
    accepted: int


class TableGroups:
    """All groups of the logical tables of a mapping, sorted by name."""

    def __init__(self, mapping: LogicalMapping, by: Grouping) -> None:
        self._mapping = mapping
        self._by = by
        self._tables = _tables_by_group(mapping, by)
        self._texts: dict[int, str] = {}

    def part(self, part: Part) -> tuple[list[TableGroup], int]:
        """Return the groups of a page, and the number of entries that its filter accepts on all
        pages.

        A group without tables counts as one entry.
        """
        found: list[TableGroup] = []
        named = _Named(self._mapping.tables, self._text)
        first, end, at = part.offset, part.offset + part.limit, 0
        for name, tables in self._tables.items():
            accepted = self._accepted(name, tables, part.words, named)
            if accepted is None:
                continue
            size = max(1, len(accepted))
            if at < end and at + size > first:
                shown = accepted[max(0, first - at) : end - at]
                found.append(self._group(name, tables, shown, len(accepted)))
            at += size
        return found, at

    def _accepted(
        self, name: str, tables: Sequence[LogicalTable], words: Sequence[str], named: "_Named"
    ) -> Sequence[LogicalTable] | None:
        """Return the tables that the words accept; None if they do not accept the group."""
        if not words:
            return tables
        text = self._group_text(name)
        left = tuple(word for word in words if word not in text)
        if not left:
            return tables
        ids = named.having(left)
        return [each for each in tables if id(each) in ids] or None if ids else None

    def _group(
        self,
        name: str,
        tables: Sequence[LogicalTable],
        shown: Sequence[LogicalTable],
        accepted: int,
    ) -> TableGroup:
        topics = {topic for each in tables for topic in each.topics}
        return TableGroup(name, self._shards(name), sorted(topics), shown, accepted)

    def _shards(self, name: str) -> list[Shard]:
        shards = self._mapping.shards
        if self._by == "db":
            return [each for each in shards if each.logical == name]
        databases = {each.name.database for each in self._tables[name]}
        of = [each for each in shards if each.logical in databases]
        return [each for each in of if name in each.instances] if self._by == "instance" else of

    def _group_text(self, name: str) -> str:
        if self._by != "db":
            return name.lower()
        shards = (
            text
            for each in self._shards(name)
            for text in (each.rule, *each.databases, *each.instances)
        )
        return _joined((name, *shards))

    def _text(self, table: LogicalTable) -> str:
        found = self._texts.get(id(table))
        if found is None:
            tags = (*table.tags.table, *(tag for _, tag in table.tags.fields))
            names = (*table.name, str(table.name), *table.rules, *table.topics, *tags)
            found = self._texts[id(table)] = _joined(names)
        return found


class _Named:
    """The tables whose names have words. Each table is in many groups, and is searched once."""

    def __init__(self, tables: Sequence[LogicalTable], text: Callable[[LogicalTable], str]) -> None:
        self._tables = tables
        self._text = text
        self._ids: dict[tuple[str, ...], frozenset[int]] = {}

    def having(self, words: tuple[str, ...]) -> frozenset[int]:
        """Return the `id` of each table whose names contain all of the words."""
        found = self._ids.get(words)
        if found is None:
            found = self._ids[words] = frozenset(
                id(each) for each in self._tables if all(word in self._text(each) for word in words)
            )
        return found


def _joined(names: Iterable[str]) -> str:
    return "\n".join(names).lower()


def _tables_by_group(mapping: LogicalMapping, by: Grouping) -> Mapping[str, list[LogicalTable]]:
    found: dict[str, list[LogicalTable]] = defaultdict(list)
    if by == "db":
        found.update((each.logical, []) for each in mapping.shards)
    for table in mapping.tables:
        for name in _groups_of(table, by):
            found[name].append(table)
    if by == "db":
        databases = {each.logical for each in mapping.shards}
        return {name: found[name] for name in sorted(databases)}
    return {name: found[name] for name in sorted(found)}


def _groups_of(table: LogicalTable, by: Grouping) -> Iterator[str]:
    if by == "db":
        return iter((table.name.database,))
    return iter(table.topics if by == "topic" else table.seen)

"""Converts the entries of the mapping documents to rules, and finds the mistakes in each entry."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from relay.model.names.topic_template import topic_mistakes
from relay.route.effort import Effort
from relay.route.mapping_document import (
    DBS,
    TAGS,
    TBS,
    TOPICS,
    IndexedEntry,
    MappingDocuments,
    MappingProblem,
    TagEntry,
    TopicEntry,
)
from relay.route.names import (
    Name,
    NameRefused,
    TableName,
    read_exact_name,
    read_exact_table_name,
    read_name,
    read_table_name,
)

NameT = TypeVar("NameT", Name, TableName)
ReadT = TypeVar("ReadT")
_EMPTY_LISTED: Final = 10
"""Number of indexes of empty names that a problem lists."""


@dataclass(frozen=True, slots=True)
class DatabaseRule:
    """The rule that the real databases matching `real` belong to the logical database `logical`.

    `pointer` is the JSON pointer of its entry.
    """

    real: Name
    logical: str
    pointer: str


@dataclass(frozen=True, slots=True)
class TableRule:
    """The rule that the real tables matching `real` belong to the logical table `logical`.

    It applies to all databases, or only to those that its prefixes name. `pointer` is the JSON
    pointer of its entry.
    """

    real: TableName
    logical_database: str | None
    logical: str
    pointer: str

    @property
    def prefixed(self) -> bool:
        """Return whether the rule names a real or logical database. It then has priority over rules
        without one.
        """
        return self.real.database is not None or self.logical_database is not None

    def holds_in(self, real_database: str, logical_database: str) -> bool:
        """Return whether the rule applies to tables of this real database, which belongs to this
        logical one.
        """
        if self.real.database is not None and not self.real.database.matches(real_database):
            return False
        return self.logical_database is None or self.logical_database == logical_database


@dataclass(frozen=True, slots=True)
class TagRule:
    """The tags of a logical table.

    tag     tag of every change
    fields  (field, tag): tags of changes of single fields, in the order of the document
    """

    logical_database: str | None
    table: str
    tag: str
    fields: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class MappingRules:
    """All rules of a mapping set, and the problems that were found in its entries."""

    databases: list[DatabaseRule] = field(default_factory=list)
    tables: list[TableRule] = field(default_factory=list)
    topics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tags: list[TagRule] = field(default_factory=list)
    problems: list[MappingProblem] = field(default_factory=list)


def read_rules(documents: MappingDocuments, effort: Effort | None = None) -> MappingRules:
    """Return the rules in the documents. An entry with a mistake gives no rule and is named in
    `problems`.

    Raises TooMuchEffort.
    """
    rules = MappingRules()
    effort = effort or Effort()
    _read_databases(documents, rules, effort)
    _read_tables(documents, rules, effort)
    for topic_entry in documents.topics:
        _read_topics(topic_entry, rules)
    for tag_entry in documents.tags:
        _read_tags(tag_entry, rules)
    return rules


def _read_databases(documents: MappingDocuments, rules: MappingRules, effort: Effort) -> None:
    for placed in documents.dbs:
        pointer = f"/{placed.index}/realDbs"
        real = _read_each(read_name, placed.entry.real_dbs, DBS, pointer, rules, effort)
        try:
            logical = read_exact_name(placed.entry.logic_db.strip())
        except NameRefused as exc:
            rules.problems.append(MappingProblem(DBS, f"/{placed.index}/logicDb", str(exc)))
            continue
        rules.databases += [DatabaseRule(name, logical, pointer) for name in real]


def _read_tables(documents: MappingDocuments, rules: MappingRules, effort: Effort) -> None:
    for placed in documents.tbs:
        pointer = f"/{placed.index}/realTbs"
        real = _read_each(read_table_name, placed.entry.real_tbs, TBS, pointer, rules, effort)
        try:
            database, logical = read_exact_table_name(placed.entry.logic_tb)
        except NameRefused as exc:
            rules.problems.append(MappingProblem(TBS, f"/{placed.index}/logicTb", str(exc)))
            continue
        rules.tables += [TableRule(name, database, logical, pointer) for name in real]


def _read_each(
    read: Callable[[str], NameT],
    texts: Sequence[str],
    data_id: str,
    pointer: str,
    rules: MappingRules,
    effort: Effort,
) -> list[NameT]:
    """Return the names of a list that can be read, and add a problem for each of the others.

    Raises TooMuchEffort.
    """
    rules.problems += _empty("name", texts, data_id, pointer)
    found: list[NameT] = []
    for text in filter(None, texts):
        try:
            found.append(read(text))
            effort.spend(found[-1].steps)
        except NameRefused as exc:
            effort.spend(exc.steps)
            rules.problems.append(MappingProblem(data_id, pointer, str(exc)))
    return found


def _empty(what: str, texts: Sequence[str], data_id: str, pointer: str) -> list[MappingProblem]:
    """Return a problem for the empty texts of a list, with their indexes."""
    numbers = [str(number) for number, text in enumerate(texts, 1) if not text]
    if not numbers:
        return []
    if len(texts) == 1:
        return [MappingProblem(data_id, pointer, f"The {what} is empty.")]
    if len(numbers) == 1:
        return [
            MappingProblem(
                data_id, pointer, f"The {what} number {numbers[0]} of {len(texts)} is empty."
            )
        ]
    shown = ", ".join(numbers[:_EMPTY_LISTED]) + (" …" if len(numbers) > _EMPTY_LISTED else "")
    return [
        MappingProblem(
            data_id, pointer, f"{len(numbers)} {what}s of {len(texts)} are empty: number {shown}."
        )
    ]


def _read_exact(
    read: Callable[[str], ReadT], text: str, pointer: str, rules: MappingRules
) -> ReadT | None:
    """Return a name of the tags document; None if it cannot be read, and then add a problem."""
    try:
        return read(text)
    except NameRefused as exc:
        rules.problems.append(MappingProblem(TAGS, pointer, str(exc)))
        return None


def _read_topics(placed: IndexedEntry[TopicEntry], rules: MappingRules) -> None:
    pointer = f"/{placed.index}/topic"
    before = len(rules.problems)
    rules.problems += [
        MappingProblem(TOPICS, pointer, sentence)
        for sentence in _topic_mistakes(placed.entry.topics)
    ]
    try:
        logical = read_exact_name(placed.entry.logic_db.strip())
        if logical in rules.topics:
            raise NameRefused(
                f"An earlier entry gives {logical} a topic; one entry may list several topics."
            )
    except NameRefused as exc:
        rules.problems.append(MappingProblem(TOPICS, f"/{placed.index}/logicDb", str(exc)))
        return
    # The database counts as one with a topic even if the topic is invalid: a second problem about
    # the same line would not help.
    rules.topics[logical] = placed.entry.topics if len(rules.problems) == before else ("",)


def _topic_mistakes(topics: tuple[str, ...]) -> Iterator[str]:
    if not topics:
        yield "The list of topics is empty."
    for topic in dict.fromkeys(topics):
        yield from topic_mistakes(topic)
        if topics.count(topic) > 1:
            yield f"The topic {topic!r} is listed twice, and each change would be in it twice."


def _read_tags(placed: IndexedEntry[TagEntry], rules: MappingRules) -> None:
    names, tags, before = placed.entry.names, placed.entry.tags, len(rules.problems)
    pointer, tag_pointer = f"/{placed.index}/logicTb", f"/{placed.index}/tag"
    rules.problems += _empty("name", names, TAGS, pointer) + _empty("tag", tags, TAGS, tag_pointer)
    table = (
        _read_exact(read_exact_table_name, names[0], pointer, rules) if names and names[0] else None
    )
    fields = [
        field
        for name in names[1:]
        if name and (field := _read_exact(read_exact_name, name, pointer, rules)) is not None
    ]
    if not names:
        rules.problems.append(MappingProblem(TAGS, pointer, "The list of names is empty."))
    elif len(tags) != len(names):
        sentence = (
            f"{','.join(names)!r} names a table and {len(names) - 1} fields, so {len(names)} tags "
            f"belong to it; there are {len(tags)}."
        )
        rules.problems.append(MappingProblem(TAGS, tag_pointer, sentence))
    if table is not None and len(rules.problems) == before:
        rules.tags.append(TagRule(*table, tags[0], tuple(zip(fields, tags[1:], strict=True))))

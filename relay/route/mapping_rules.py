"""The entries of the mapping documents as rules: names read, and each entry's own mistakes found."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from relay.route.mapping_document import DBS, TAGS, TBS, TOPICS, MappingDocuments, MappingProblem, Placed, TagEntry, TopicEntry
from relay.route.names import Name, NameRefused, TableName, read_exact_name, read_exact_table_name, read_name, read_table_name

# Kafka takes 249 characters; four of them are kept for the `.ddl` topic beside it.
_TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,245}")
DDL_SUFFIX: Final = ".ddl"


@dataclass(frozen=True, slots=True)
class DatabaseRule:
    """A real database (or an expression over them) belongs to a logical one."""

    real: Name
    logical: str
    pointer: str


@dataclass(frozen=True, slots=True)
class TableRule:
    """A real table (or an expression) belongs to a logical one, everywhere or within the databases that the prefixes name."""

    real: TableName
    logical_database: str | None
    logical: str
    pointer: str

    @property
    def prefixed(self) -> bool:
        """Whether the rule names a database, on either side; it then wins over one that names none."""
        return self.real.database is not None or self.logical_database is not None

    def holds_in(self, real_database: str, logical_database: str) -> bool:
        """Say whether the rule speaks of tables in this database."""
        if self.real.database is not None and not self.real.database.matches(real_database):
            return False
        return self.logical_database is None or self.logical_database == logical_database


@dataclass(frozen=True, slots=True)
class TagRule:
    """A logical table's tag, and a tag for some of its fields, in the document's order."""

    logical_database: str | None
    table: str
    tag: str
    fields: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class MappingRules:
    """All rules of a set, and the problems met while reading them."""

    databases: list[DatabaseRule] = field(default_factory=list)
    tables: list[TableRule] = field(default_factory=list)
    topics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tags: list[TagRule] = field(default_factory=list)
    problems: list[MappingProblem] = field(default_factory=list)


def read_rules(documents: MappingDocuments) -> MappingRules:
    """Read every entry; one that is broken is left out and named in `problems`."""
    rules = MappingRules()
    _read_databases(documents, rules)
    _read_tables(documents, rules)
    for topic_entry in documents.topics:
        _read_topics(topic_entry, rules)
    for tag_entry in documents.tags:
        _read_tags(tag_entry, rules)
    return rules


def _read_databases(documents: MappingDocuments, rules: MappingRules) -> None:
    for placed in documents.dbs:
        try:
            logical = read_exact_name(placed.entry.logic_db.strip())
        except NameRefused as exc:
            rules.problems.append(MappingProblem(DBS, f"/{placed.index}/logicDb", str(exc)))
            continue
        pointer = f"/{placed.index}/realDbs"
        for text in placed.entry.real_dbs:
            try:
                rules.databases.append(DatabaseRule(read_name(text), logical, pointer))
            except NameRefused as exc:
                rules.problems.append(MappingProblem(DBS, pointer, str(exc)))


def _read_tables(documents: MappingDocuments, rules: MappingRules) -> None:
    for placed in documents.tbs:
        try:
            database, logical = read_exact_table_name(placed.entry.logic_tb)
        except NameRefused as exc:
            rules.problems.append(MappingProblem(TBS, f"/{placed.index}/logicTb", str(exc)))
            continue
        pointer = f"/{placed.index}/realTbs"
        for text in placed.entry.real_tbs:
            try:
                rules.tables.append(TableRule(read_table_name(text), database, logical, pointer))
            except NameRefused as exc:
                rules.problems.append(MappingProblem(TBS, pointer, str(exc)))


def _read_topics(placed: Placed[TopicEntry], rules: MappingRules) -> None:
    pointer = f"/{placed.index}/topic"
    before = len(rules.problems)
    rules.problems += [MappingProblem(TOPICS, pointer, sentence) for sentence in _topic_mistakes(placed.entry.topics)]
    try:
        logical = read_exact_name(placed.entry.logic_db.strip())
        if logical in rules.topics:
            raise NameRefused(f"{logical} has a topic by an earlier entry; an entry may list several topics.")
    except NameRefused as exc:
        rules.problems.append(MappingProblem(TOPICS, f"/{placed.index}/logicDb", str(exc)))
        return
    # A database whose topic is broken still has one: a second complaint about the same line would help nobody.
    rules.topics[logical] = placed.entry.topics if len(rules.problems) == before else ("",)


def _topic_mistakes(topics: tuple[str, ...]) -> Iterator[str]:
    if not topics:
        yield "The list of topics is empty."
    for topic in dict.fromkeys(topics):
        if not _TOPIC_NAME.fullmatch(topic) or topic in (".", "..") or topic.startswith("__"):
            yield (
                f"{topic!r} cannot be a topic: 1 to 245 letters, digits, dots, underscores and hyphens, "
                "and not two underscores first, which Kafka keeps for itself."
            )
        if topics.count(topic) > 1:
            yield f"The topic {topic!r} is listed twice, and each change would be in it twice."


def _read_tags(placed: Placed[TagEntry], rules: MappingRules) -> None:
    names, tags = placed.entry.names, placed.entry.tags
    try:
        if not names:
            raise NameRefused("A name is empty.")
        database, table = read_exact_table_name(names[0])
        fields = [read_exact_name(name) for name in names[1:]]
    except NameRefused as exc:
        rules.problems.append(MappingProblem(TAGS, f"/{placed.index}/logicTb", str(exc)))
        return
    pointer = f"/{placed.index}/tag"
    if len(tags) != len(names):
        sentence = f"{','.join(names)!r} names a table and {len(fields)} fields, so {len(names)} tags belong to it; there are {len(tags)}."
        rules.problems.append(MappingProblem(TAGS, pointer, sentence))
    elif "" in tags:
        rules.problems.append(MappingProblem(TAGS, pointer, "A tag is empty."))
    else:
        rules.tags.append(TagRule(database, table, tags[0], tuple(zip(fields, tags[1:], strict=True))))

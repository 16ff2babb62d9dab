"""A mapping set: the four documents with a number, compiled for lookups by real name. Immutable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from relay.errors import MappingRefused, UnmappedName
from relay.model.table import TableId
from relay.route.mapping_check import problems
from relay.route.mapping_document import SPACES_COUNT, Documents, read_documents
from relay.route.mapping_rules import DatabaseRule, MappingRules, TableRule, TagRule, read_rules


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of one logical table.

    table   tags of every change
    fields  (field, tag): tags of changes of single fields
    """

    table: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]


class MappingSet:
    """One numbered mapping set.

    It has routes for the real names that the documents list or match. The router decides about all
    others.
    """

    def __init__(self, number: int, rules: MappingRules) -> None:
        self.number = number
        self._topics = rules.topics
        self._databases = _Databases(rules.databases)
        self._prefixed = _Tables(rule for rule in rules.tables if rule.prefixed)
        self._bare = _Tables(rule for rule in rules.tables if not rule.prefixed)
        self._tag_rules: dict[str, list[TagRule]] = {}
        for rule in rules.tags:
            self._tag_rules.setdefault(rule.table, []).append(rule)
        self._rules = rules

    @classmethod
    def compile(cls, number: int, documents: Documents) -> "MappingSet":
        """Return the compiled set.

        Raises MappingRefused for the first problem; its reason says how many more there are. Older
        versions of the relay counted spaces around names as parts of the names. If the documents
        have problems only without these spaces, they are compiled with the spaces, as before.
        """
        found = problems(documents)
        if found and not problems(documents, SPACES_COUNT):
            return cls(number, read_rules(read_documents(documents, SPACES_COUNT)[0]))
        if found:
            others = f" There are {len(found) - 1} more problems." if len(found) > 1 else ""
            first = found[0]
            reason = f"{first.data_id} at {first.pointer or 'its top'}: {first.sentence}{others}"
            raise MappingRefused(reason, data_id=first.data_id, pointer=first.pointer)
        return cls(number, read_rules(read_documents(documents)[0]))

    @classmethod
    def empty(cls) -> "MappingSet":
        """Return set 0, which maps nothing."""
        return cls(0, MappingRules())

    @property
    def maps_nothing(self) -> bool:
        """Return whether no real database is mapped, so that every row counts as unmapped."""
        return not self._rules.databases

    def logical_database(self, real: str) -> str | None:
        """Return the logical database of a real database; None if it is not mapped.

        Raises UnmappedName if two logical databases match.
        """
        return self._databases.logical(real)

    def topics(self, logical_database: str) -> tuple[str, ...]:
        """Return the topics and patterns of a mapped logical database, as they are written."""
        return self._topics[logical_database]

    @property
    def topics_by_database(self) -> Mapping[str, tuple[str, ...]]:
        """The topics and patterns of each mapped logical database."""
        return self._rules.topics

    @property
    def all_topics(self) -> tuple[str, ...]:
        """All topics and patterns of all logical databases, sorted."""
        return tuple(sorted({topic for topics in self._topics.values() for topic in topics}))

    def logical_table(self, real: TableId, logical_database: str) -> str | None:
        """Return the logical table of a real table; None if no rule matches.

        A rule that names a database has priority over one that does not. Raises UnmappedName if two
        logical tables match.
        """
        return self._prefixed.logical(real, logical_database) or self._bare.logical(
            real, logical_database
        )

    def tags(self, logical: TableId) -> Tags:
        """Return the tags of a logical table.

        Entries that name its database have priority. A table without an entry has its own name as
        tag.
        """
        return _joined(self._tag_rules_of(logical), logical.table)

    def has_tag_entry(self, logical: TableId) -> bool:
        """Return whether an entry gives a logical table its tags."""
        return bool(self._tag_rules_of(logical))

    def _tag_rules_of(self, logical: TableId) -> list[TagRule]:
        of_table = self._tag_rules.get(logical.table, [])
        rules = [rule for rule in of_table if rule.logical_database == logical.database]
        return rules or [rule for rule in of_table if rule.logical_database is None]

    @property
    def named_databases(self) -> frozenset[str]:
        """The real databases that the documents name literally."""
        return frozenset(
            rule.real.text for rule in self._rules.databases if rule.real.expression is None
        )

    @property
    def count_of_named_tables(self) -> int:
        """The largest possible number of tables in `named_tables`, computed without
        creating them.
        """
        return len(self.named_databases) * sum(
            rule.real.table.expression is None for rule in self._rules.tables
        )

    @cached_property
    def names_databases_of_tables(self) -> bool:
        """Return whether a table rule names a real database.

        Tables with one name in two databases of one logical database may then have different
        logical names.
        """
        return any(rule.real.database is not None for rule in self._rules.tables)

    @property
    def steps_per_table(self) -> int:
        """The number of regular expressions that are compared with a table's name to find its
        route.
        """
        names = [rule.real for rule in self._rules.databases] + [
            rule.real.table for rule in self._rules.tables
        ]
        return 1 + sum(name.expression is not None for name in names)

    @cached_property
    def named_tables(self) -> tuple[TableId, ...]:
        """The real tables that the documents name literally: each database combined with each
        table.

        There may be very many, so read `count_of_named_tables` first.
        """
        databases = self.named_databases
        tables = [rule for rule in self._rules.tables if rule.real.table.expression is None]
        found = {
            TableId(database, rule.real.table.text)
            for database in databases
            for rule in tables
            if rule.holds_in(database, self._databases.logical(database) or "")
        }
        return tuple(sorted(found, key=str))


def _joined(rules: list[TagRule], table: str) -> Tags:
    tags = dict.fromkeys(rule.tag for rule in rules) or {table: None}
    fields = dict.fromkeys(pair for rule in rules for pair in rule.fields)
    return Tags(tuple(tags), tuple(fields))


class _Databases:
    """Database rules: those with exact names in a dictionary, those with regular expressions in a
    list.
    """

    def __init__(self, rules: Iterable[DatabaseRule]) -> None:
        every = tuple(rules)
        self._exact = {
            rule.real.text: rule.logical for rule in every if rule.real.expression is None
        }
        self._expressions = tuple(rule for rule in every if rule.real.expression is not None)
        self._answered: tuple[str, str | None] | None = None

    def logical(self, real: str) -> str | None:
        if real in self._exact:
            return self._exact[real]
        answered = self._answered
        if answered is None or answered[0] != real:
            found = {rule.logical for rule in self._expressions if rule.real.matches(real)}
            answered = self._answered = (real, _only(found, f"database {real}"))
        return answered[1]


class _Tables:
    """Table rules of one priority: those with exact names in a dictionary, others in a list."""

    def __init__(self, rules: Iterable[TableRule]) -> None:
        self._exact: dict[str, list[TableRule]] = {}
        self._expressions: list[TableRule] = []
        for rule in rules:
            if rule.real.table.expression is None:
                self._exact.setdefault(rule.real.table.text, []).append(rule)
            else:
                self._expressions.append(rule)

    def logical(self, real: TableId, logical_database: str) -> str | None:
        rules = self._exact.get(real.table, [])
        if not rules and not self._expressions:
            return None
        by_expression = [rule for rule in self._expressions if rule.real.table.matches(real.table)]
        rules = rules + by_expression
        return _only(
            {rule.logical for rule in rules if rule.holds_in(real.database, logical_database)},
            f"table {real}",
        )


def _only(claims: set[str], what: str) -> str | None:
    """Return the only logical name of `claims`; None if it is empty.

    Raises UnmappedName for several names, because the relay must not guess one of them.
    """
    if len(claims) > 1:
        raise UnmappedName(
            f"The mapping's regular expressions put the real {what} under several logical names: "
            f"{', '.join(sorted(claims))}.",
            remedy="Narrow the expressions, or list the name exactly, and save the mapping again.",
        )
    return next(iter(claims), None)

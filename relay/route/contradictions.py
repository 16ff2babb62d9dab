"""Finds mapping rules that contradict each other: a real name under two logical names, or a logical
database without a topic.

Only contradictions that the documents alone show are found. Two regular expressions may also match
the same new table. This is found only when the table appears; the instance then stops.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from relay.model.names.topic_template import DDL_SUFFIX
from relay.route.effort import Effort
from relay.route.mapping_document import DBS, TBS, TOPICS, MappingProblem
from relay.route.mapping_rules import DatabaseRule, MappingRules, TableRule
from relay.route.names import Name


def contradictions(rules: MappingRules, effort: Effort) -> Iterator[MappingProblem]:
    """Yield each contradiction once, in the order of the documents. Raises TooMuchEffort."""
    check = _Check(rules, effort)
    found = chain(
        check.databases_twice(), check.databases_without_topic(), check.tables(), _ddl_topics(rules)
    )
    return iter(dict.fromkeys(found))


def _ddl_topics(rules: MappingRules) -> Iterator[MappingProblem]:
    topics = set(chain.from_iterable(rules.topics.values()))
    for topic in sorted(topics):
        if topic.endswith(DDL_SUFFIX) and topic.removesuffix(DDL_SUFFIX) in topics:
            sentence = (
                f"The topic {topic} is for the DDL of {topic.removesuffix(DDL_SUFFIX)}, "
                "so it cannot have rows."
            )
            yield MappingProblem(TOPICS, "", sentence)


class _Check:
    """Compares the rules of one set with each other.

    An exact name is compared only with equal names and with expressions.
    """

    def __init__(self, rules: MappingRules, effort: Effort) -> None:
        self._rules = rules
        self._effort = effort
        self._logical_databases = {rule.logical for rule in rules.databases}
        self._exact_owners: dict[str, set[str]] = {}
        for rule in rules.databases:
            if rule.real.expression is None:
                self._exact_owners.setdefault(rule.real.text, set()).add(rule.logical)
        self._expression_owners = [
            rule for rule in rules.databases if rule.real.expression is not None
        ]
        self._owners: dict[str, frozenset[str]] = {}

    def databases_twice(self) -> Iterator[MappingProblem]:
        by_name: dict[str, list[tuple[int, DatabaseRule]]] = {}
        expressions: list[tuple[int, DatabaseRule]] = []
        for index, rule in enumerate(self._rules.databases):
            exact = rule.real.expression is None
            rivals = (
                [*by_name.get(rule.real.text, ()), *expressions]
                if exact
                else list(enumerate(self._rules.databases[:index]))
            )
            for _, earlier in sorted(rivals, key=lambda rival: rival[0]):
                if earlier.logical != rule.logical and self._certainly_overlap(
                    earlier.real, rule.real
                ):
                    yield MappingProblem(
                        DBS,
                        rule.pointer,
                        _twice(
                            "database", rule.real, rule.logical, earlier.logical, earlier.pointer
                        ),
                    )
            self._effort.spend(len(rivals))
            if exact:
                by_name.setdefault(rule.real.text, []).append((index, rule))
            else:
                expressions.append((index, rule))

    def databases_without_topic(self) -> Iterator[MappingProblem]:
        for rule in self._rules.databases:
            if rule.logical not in self._rules.topics:
                sentence = f"The logical database {rule.logical} has no topic in {TOPICS}."
                yield MappingProblem(DBS, rule.pointer.replace("realDbs", "logicDb"), sentence)

    def tables(self) -> Iterator[MappingProblem]:
        seen = _SeenTables()
        for rule in self._rules.tables:
            yield from self._foreign_prefixes(rule)
            for earlier in seen.rivals(rule):
                self._effort.spend()
                if self._tables_clash(earlier, rule):
                    sentence = _twice(
                        "table", rule.real, _logical(rule), _logical(earlier), earlier.pointer
                    )
                    yield MappingProblem(TBS, rule.pointer, sentence)
            seen.add(rule)

    def _foreign_prefixes(self, rule: TableRule) -> Iterator[MappingProblem]:
        """Yield a problem for each prefix that no mapped database has.

        Such a rule would never match, and its table would be routed in another way.
        """
        prefix = rule.real.database
        if (
            rule.logical_database is not None
            and rule.logical_database not in self._logical_databases
        ):
            yield MappingProblem(
                TBS,
                rule.pointer.replace("realTbs", "logicTb"),
                f"{DBS} maps no database to {rule.logical_database}.",
            )
        elif prefix is not None and prefix.expression is None:
            mapped = self._owners_of(prefix.text)
            if not mapped:
                yield MappingProblem(
                    TBS, rule.pointer, f"{DBS} does not map the database {prefix}."
                )
            elif rule.logical_database is not None and rule.logical_database not in mapped:
                sentence = (
                    f"The database {prefix} belongs to {', '.join(sorted(mapped))}, not to "
                    f"{rule.logical_database}."
                )
                yield MappingProblem(TBS, rule.pointer, sentence)

    def _tables_clash(self, one: TableRule, other: TableRule) -> bool:
        if one.logical == other.logical or one.prefixed != other.prefixed:
            return False
        if not self._certainly_overlap(one.real.table, other.real.table):
            return False
        if not one.prefixed or (one.real.database is None and other.real.database is None):
            return one.logical_database == other.logical_database
        return any(self._both_hold_in(name, one, other) for name in self._databases_of(one, other))

    def _databases_of(self, one: TableRule, other: TableRule) -> Sequence[str]:
        """Return the real databases to which both rules may apply: those that a prefix names,
        otherwise all databases that are named exactly.
        """
        named = [prefix for prefix in map(_exact_prefix, (one, other)) if prefix is not None]
        return named[:1] or sorted(self._exact_owners)

    def _both_hold_in(self, real_database: str, one: TableRule, other: TableRule) -> bool:
        self._effort.spend()
        owners = self._owners_of(real_database)
        return any(
            one.holds_in(real_database, owner) and other.holds_in(real_database, owner)
            for owner in owners
        )

    def _owners_of(self, real_database: str) -> frozenset[str]:
        found = self._owners.get(real_database)
        if found is None:
            self._effort.spend(len(self._expression_owners))
            by_expression = {
                rule.logical for rule in self._expression_owners if rule.real.matches(real_database)
            }
            found = frozenset(by_expression | self._exact_owners.get(real_database, set()))
            self._owners[real_database] = found
        return found

    def _certainly_overlap(self, one: Name, other: Name) -> bool:
        """Return whether some name certainly matches both.

        Two different regular expressions count as not overlapping, because their overlap is not
        computed here.
        """
        if one.text == other.text:
            return True
        if one.expression is not None and other.expression is not None:
            return False
        return other.matches(one.text) if one.expression is None else one.matches(other.text)


class _SeenTables:
    """Table rules by exact name, by exact database prefix, and those with regular expressions."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[str | None, list[TableRule]]] = {}
        self._expressions: list[TableRule] = []

    def add(self, rule: TableRule) -> None:
        if rule.real.table.expression is not None:
            self._expressions.append(rule)
        else:
            self._by_name.setdefault(rule.real.table.text, {}).setdefault(
                _exact_prefix(rule), []
            ).append(rule)

    def rivals(self, rule: TableRule) -> Iterator[TableRule]:
        """Return the earlier rules that may match a table of this rule."""
        if rule.real.table.expression is not None:
            same_name = [rules for group in self._by_name.values() for rules in group.values()]
        else:
            group = self._by_name.get(rule.real.table.text, {})
            prefix = _exact_prefix(rule)
            same_name = (
                list(group.values())
                if prefix is None
                else [group.get(prefix, []), group.get(None, [])]
            )
        return chain(chain.from_iterable(same_name), self._expressions)


def _exact_prefix(rule: TableRule) -> str | None:
    prefix = rule.real.database
    return prefix.text if prefix is not None and prefix.expression is None else None


def _logical(rule: TableRule) -> str:
    return (
        rule.logical if rule.logical_database is None else f"{rule.logical_database}.{rule.logical}"
    )


def _twice(kind: str, real: object, here: str, earlier: str, pointer: str) -> str:
    return f"The real {kind} {real} is mapped to {here} here and to {earlier} at {pointer}."

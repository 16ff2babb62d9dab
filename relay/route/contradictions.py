"""Mapping rules that cannot all be true: one real name under two logical ones, a logical database without a topic.

What can be decided from the documents alone is found here. Two expressions may still meet on a name that stands in neither;
that shows only when such a table appears, and stops the instance then.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from relay.route.mapping_document import DBS, TBS, TOPICS, MappingProblem
from relay.route.mapping_rules import DDL_SUFFIX, DatabaseRule, MappingRules, TableRule
from relay.route.names import Name


def contradictions(rules: MappingRules) -> list[MappingProblem]:
    """Find them all, in the order of the documents."""
    found = chain(_databases_twice(rules.databases), _databases_without_topic(rules), _tables(rules), _ddl_topics(rules))
    return list(dict.fromkeys(found))


def _databases_twice(databases: Sequence[DatabaseRule]) -> Iterator[MappingProblem]:
    for index, rule in enumerate(databases):
        for earlier in databases[:index]:
            if earlier.logical != rule.logical and _certainly_overlap(earlier.real, rule.real):
                yield MappingProblem(DBS, rule.pointer, _twice("database", rule.real, rule.logical, earlier.logical, earlier.pointer))


def _databases_without_topic(rules: MappingRules) -> Iterator[MappingProblem]:
    for rule in rules.databases:
        if rule.logical not in rules.topics:
            sentence = f"The logical database {rule.logical} has no topic in {TOPICS}."
            yield MappingProblem(DBS, rule.pointer.replace("realDbs", "logicDb"), sentence)


def _ddl_topics(rules: MappingRules) -> Iterator[MappingProblem]:
    topics = set(chain.from_iterable(rules.topics.values()))
    for topic in sorted(topics):
        if topic.endswith(DDL_SUFFIX) and topic.removesuffix(DDL_SUFFIX) in topics:
            sentence = f"The topic {topic} is where the DDL of {topic.removesuffix(DDL_SUFFIX)} goes, so it cannot take rows."
            yield MappingProblem(TOPICS, "", sentence)


def _tables(rules: MappingRules) -> Iterator[MappingProblem]:
    candidates = sorted({rule.real.text for rule in rules.databases if rule.real.expression is None})
    by_name: dict[str, list[TableRule]] = {}
    expressions: list[TableRule] = []
    for rule in rules.tables:
        yield from _foreign_prefixes(rule, rules)
        name = rule.real.table
        rivals = expressions if name.expression is None else [*chain.from_iterable(by_name.values()), *expressions]
        for earlier in chain(by_name.get(name.text, ()), rivals):
            if _tables_clash(earlier, rule, rules, candidates):
                sentence = _twice("table", rule.real, _logical(rule), _logical(earlier), earlier.pointer)
                yield MappingProblem(TBS, rule.pointer, sentence)
        if name.expression is None:
            by_name.setdefault(name.text, []).append(rule)
        else:
            expressions.append(rule)


def _foreign_prefixes(rule: TableRule, rules: MappingRules) -> Iterator[MappingProblem]:
    """Find prefixes that no database has: such a rule would never hold, and its table would go elsewhere unnoticed."""
    prefix = rule.real.database
    owners = {database.logical for database in rules.databases}
    if rule.logical_database is not None and rule.logical_database not in owners:
        yield MappingProblem(TBS, rule.pointer.replace("realTbs", "logicTb"), f"{DBS} maps nothing to {rule.logical_database}.")
    elif prefix is not None and prefix.expression is None:
        mapped = {database.logical for database in rules.databases if database.real.matches(prefix.text)}
        if not mapped:
            yield MappingProblem(TBS, rule.pointer, f"{DBS} does not map the database {prefix}.")
        elif rule.logical_database is not None and rule.logical_database not in mapped:
            sentence = f"The database {prefix} belongs to {', '.join(sorted(mapped))}, not to {rule.logical_database}."
            yield MappingProblem(TBS, rule.pointer, sentence)


def _tables_clash(one: TableRule, other: TableRule, rules: MappingRules, candidates: list[str]) -> bool:
    if one.logical == other.logical or one.prefixed != other.prefixed or not _certainly_overlap(one.real.table, other.real.table):
        return False
    if not one.prefixed or (one.real.database is None and other.real.database is None):
        return one.logical_database == other.logical_database
    return any(_both_hold_in(name, one, other, rules) for name in candidates + _prefixes(one, other))


def _prefixes(*table_rules: TableRule) -> list[str]:
    return [rule.real.database.text for rule in table_rules if rule.real.database is not None and rule.real.database.expression is None]


def _both_hold_in(real_database: str, one: TableRule, other: TableRule, rules: MappingRules) -> bool:
    owners = {rule.logical for rule in rules.databases if rule.real.matches(real_database)}
    return any(one.holds_in(real_database, owner) and other.holds_in(real_database, owner) for owner in owners)


def _certainly_overlap(one: Name, other: Name) -> bool:
    """Say whether some name is meant by both; two different expressions count as apart, for that is not decided here."""
    if one.text == other.text:
        return True
    if one.expression is not None and other.expression is not None:
        return False
    return other.matches(one.text) if one.expression is None else one.matches(other.text)


def _logical(rule: TableRule) -> str:
    return rule.logical if rule.logical_database is None else f"{rule.logical_database}.{rule.logical}"


def _twice(kind: str, real: object, here: str, earlier: str, pointer: str) -> str:
    return f"The real {kind} {real} is put under {here} here and under {earlier} at {pointer}."

"""Finds topic patterns that give topic names that Kafka does not accept."""

from collections.abc import Iterator

from relay.errors import UnmappedName
from relay.model.names.topic_template import database_topics, expanded_topics, is_template
from relay.model.table import TableId
from relay.route.effort import Effort
from relay.route.mapping_document import TBS, TOPICS, MappingProblem
from relay.route.mapping_rules import MappingRules, TableRule


def unfit_topics(rules: MappingRules, effort: Effort) -> Iterator[MappingProblem]:
    """Yield a problem for each listed table for which a topic pattern of its database gives a name
    that Kafka does not accept. The problem names the entry that lists the table.

    Raises TooMuchEffort.
    """
    for database, topics in rules.topics.items():
        patterns = [each for each in topics if is_template(each)]
        if not patterns:
            continue
        try:
            database_topics(patterns, database)
        except UnmappedName as exc:
            yield MappingProblem(TOPICS, "", exc.reason)
            continue
        for rule in rules.tables:
            effort.spend(len(patterns))
            if rule.logical_database in (None, database):
                yield from _unfit(rule, TableId(database, rule.logical), patterns, rules)


def _unfit(
    rule: TableRule, logical: TableId, patterns: list[str], rules: MappingRules
) -> Iterator[MappingProblem]:
    tags = tuple(
        each.tag
        for each in rules.tags
        if each.table == logical.table and each.logical_database in (None, logical.database)
    )
    try:
        expanded_topics(patterns, logical, tags or (logical.table,))
    except UnmappedName as exc:
        yield MappingProblem(TBS, rule.pointer.replace("realTbs", "logicTb"), exc.reason)

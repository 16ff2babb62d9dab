"""Canal's dynamicTopic and dynamicTopicPartitionNum, for installations that move from Canal with their rules as they are.

Source of the rules: alibaba/canal, MQMessageUtils; vectors in tests/golden.
"""

from collections.abc import Iterator

from relay.model.name_pattern import NamePattern, is_pattern, split_rules
from relay.model.table import TableId


def dynamic_topic(rules: str, table: TableId, default_topic: str) -> str:
    """Return the topic that a dynamicTopic list gives a table; the first rule that matches decides, else `default_topic`.

    All rules are tried with `database.table` first, then all with the database alone. A rule `topic:pattern` names its topic,
    a bare pattern takes the lower-cased name that it matched.
    """
    if not table.database or not table.table:
        return default_topic
    names = (str(table), table.database)
    return next((topic for name in names for topic in _matching_topics(rules, name)), default_topic)


def kafka_topic(topic: str) -> str:
    """Return the topic's name on Kafka, where Canal writes underscores for dots."""
    return topic.replace(".", "_")


def partitions_of(rules: str, topic: str) -> int | None:
    """Return the partition count that a dynamicTopicPartitionNum list gives a topic, None where it says nothing.

    The first rule that names the topic decides, also when its count is not a number.
    """
    for rule in split_rules(rules):
        name, colon, count = rule.rpartition(":")
        if colon and name and _matches(name, topic):
            return int(count) if count.isdecimal() else None
    return None


def _matching_topics(rules: str, name: str) -> Iterator[str]:
    for rule in split_rules(rules):
        topic, colon, pattern = rule.partition(":")
        if not colon and _matches_name(rule, name):
            yield name.lower()
        elif colon and _matches_name(pattern.strip(), name):
            yield topic.strip()


def _matches_name(pattern: str, name: str) -> bool:
    """Match a table's or a database's name; an expression speaks of tables if it holds an escaped dot, else of databases."""
    if not pattern:
        return False
    if is_pattern(pattern) and ("\\." in pattern) != ("." in name):
        return False
    return _matches(pattern, name)


def _matches(pattern: str, name: str) -> bool:
    return NamePattern(pattern).matches(name) if is_pattern(pattern) else pattern.lower() == name.lower()

"""Topics by pattern: `{db}.{table}` instead of a topic's name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from relay.errors import UnmappedName
from relay.model.table import TableId

DDL_SUFFIX: Final = ".ddl"
PLACEHOLDERS: Final = ("db", "table", "tag")
"""Placeholders of topic patterns: the logical database, the logical table, and each tag of the
table.
"""
# Kafka allows 249 characters. Four are reserved for the suffix `.ddl` of the topic of statements.
_TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,245}")
_FIXED_TEXT: Final = re.compile(r"[A-Za-z0-9._-]*")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_OF_TABLES: Final = ("{table}", "{tag}")
_SEPARATORS: Final = "._-"
_RULE: Final = (
    "1 to 245 letters, digits, dots, underscores and hyphens, and not two underscores first, "
    "which Kafka reserves for its own topics"
)


def is_template(topic: str) -> bool:
    """Whether a topic of the documents is a template and not a name."""
    return "{" in topic or "}" in topic


def topic_mistakes(topic: str) -> Iterator[str]:
    """Yield every mistake in one topic or template of the documents, each as a sentence."""
    if not is_template(topic):
        if not _is_topic(topic):
            yield f"{topic!r} cannot be a topic: {_RULE}."
        return
    for name in dict.fromkeys(_PLACEHOLDER.findall(topic)):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            yield f"{topic!r} has the placeholder {{{name}}}; a topic pattern may have {known}."
    if not _FIXED_TEXT.fullmatch(_PLACEHOLDER.sub("", topic)) or topic.startswith("__"):
        yield f"{topic!r} cannot be a topic: beside placeholders it may have {_RULE}."


def expanded_topics(
    topics: Iterable[str], logical: TableId, tags: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the topics of a table: plain names, and patterns with the table's names inserted.

    `{tag}` gives one topic for each of the table's tags. Raises UnmappedName if Kafka does not
    accept the result, or if it is the name of a topic of statements.
    """
    found: dict[str, None] = {}
    for topic in topics:
        for tag in tags if "{tag}" in topic else ("",):
            values = {"db": logical.database, "table": logical.table, "tag": tag}
            found[_filled(topic, values, f"table {logical}")] = None
    return tuple(found)


def table_of_topic(template: str, topic: str, database: str) -> TableId | None:
    """Return the table for which a pattern gives this topic: the inverse of `expanded_topics`,
    without tags.

    A pattern without `{table}` gives a table without a name. None if the pattern does not give the
    topic for a table of `database`.
    """
    pattern = re.escape(template).replace(r"\{db\}", re.escape(database))
    pattern = pattern.replace(r"\{table\}", "(?P<table>.+)", 1)
    pattern = pattern.replace(r"\{table\}", "(?P=table)")
    found = re.fullmatch(pattern, topic)
    return None if found is None else TableId(database, found.groupdict().get("table") or "")


def database_topics(topics: Iterable[str], database: str) -> tuple[str, ...]:
    """Return the topics of changes that belong to a logical database but to none of its tables.

    `{table}` and `{tag}` are removed from a pattern, then separators at its ends. If nothing is
    left, the topic has the database's name. Raises UnmappedName as `expanded_topics`.
    """
    found: dict[str, None] = {}
    for topic in topics:
        rest = topic
        if is_template(topic):
            for each in _OF_TABLES:
                rest = rest.replace(each, "")
            rest = rest.strip(_SEPARATORS) or "{db}"
        found[_filled(rest, {"db": database}, f"database {database}")] = None
    return tuple(found)


def _is_topic(name: str) -> bool:
    return (
        _TOPIC_NAME.fullmatch(name) is not None
        and name not in (".", "..")
        and not name.startswith("__")
    )


def _filled(topic: str, values: Mapping[str, str], of: str) -> str:
    if not is_template(topic):
        return topic
    name = _PLACEHOLDER.sub(lambda found: values[found[1]], topic)
    _refuse_unfit(name, topic, of)
    return name


def _refuse_unfit(name: str, template: str, of: str) -> None:
    if not _is_topic(name):
        why = f"that cannot be a topic: {_RULE}"
    elif name.endswith(DDL_SUFFIX):
        why = f"names that end with {DDL_SUFFIX} are reserved for the DDL of another topic"
    else:
        return
    raise UnmappedName(
        f"The topic {template} of the logical {of} becomes {name!r}, and {why}.",
        remedy=(
            "Give the table another logical name (document tbs), or its database a topic without "
            "this placeholder (document topics), and save the mapping."
        ),
    )

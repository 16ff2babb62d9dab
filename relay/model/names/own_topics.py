"""Topics that cannot have rows: those of an installation's own records, of reports and of
statements. Pure.
"""

from typing import Final

from relay.errors import TopicRefused

AUDIT: Final = "audit"
"""The audit trail of the installation."""
POSITION: Final = "position"
"""The position records of an instance."""
DEAD_LETTERS: Final = "dead-letters"
"""The rows of an instance that no message can hold."""
SCHEMA: Final = "schema"
"""The schema history of the source's tables."""
PREPARED: Final = "xa"
"""Rows of XA transactions that are prepared and neither committed nor rolled back."""
_OF_SOURCES: Final = (SCHEMA, PREPARED)
"""Each source of a group has such a topic, whose name begins with `schema-SOURCE`."""


def own_prefix(installation: str, purpose: str) -> str:
    """Return the prefix of an installation's topics for `purpose`; the instance's name follows."""
    return f"{installation}.{purpose}."


def is_own_topic(topic: str, installation: str) -> bool:
    """Return whether a topic has an installation's own records, so that it cannot have rows."""
    prefixes = (
        *(own_prefix(installation, each) for each in (POSITION, DEAD_LETTERS, *_OF_SOURCES)),
        *(f"{installation}.{each}-" for each in _OF_SOURCES),
    )
    return topic == f"{installation}.{AUDIT}" or topic.startswith(prefixes)


def own_records_mixed(topic: str) -> TopicRefused:
    """Return the error for rows or reports in a topic of the installation's own records."""
    return TopicRefused(
        f"The settings or the mapping send messages to {topic}, which has the installation's own "
        "records.",
        remedy=(
            "Give the logical database another topic or pattern (document topics), or change "
            "transaction.topic or heartbeat.topic, if one of them has this name."
        ),
    )


def reports_mixed(topic: str, instance: str = "") -> TopicRefused:
    """Return the error for rows in a topic of transactions or heartbeats.

    `instance` is the other instance to which that topic belongs; "" for this one.
    """
    whose = f" of instance {instance}" if instance else ""
    return TopicRefused(
        f"The mapping sends rows to {topic}, the topic of transactions or heartbeats{whose}.",
        remedy=(
            "Set transaction.topic and heartbeat.topic to names that no mapping and no "
            "pattern gives, or change the topic in the mapping."
        ),
    )


def statements_mixed(topic: str) -> TopicRefused:
    """Return the error for rows in a topic of statements about the rows of another topic."""
    return TopicRefused(
        f"The mapping sends rows to {topic}, the topic of statements about rows of another topic.",
        remedy=(
            "Give the rows a topic that does not end with .ddl (document topics, or "
            'routing.default_topic), or set message.ddl to another value than "topic".'
        ),
    )

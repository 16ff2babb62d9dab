"""Where a group begins to read a table, also while a mapping edit gives it another topic."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from roma_client.errors import TableMoved
from roma_client.kafka.former_topics import Reached, topic_to_read
from roma_client.log import log_event
from roma_client.names import Table
from roma_client.names.watcher import READ_THE_REST

FRESH_SECONDS: Final = 10.0
"""The first client of a group commits so soon after the admin's answer, or it asks again."""
SETTLE_SECONDS: Final = 20.0
"""A new group waits so long after an edit. Then clients that were answered before it have committed
where they begin, and others see it: a group must not begin in two topics.
"""
Ask = Callable[[], Table]


class Beginning(NamedTuple):
    """The table as the admin answers, and where the group reads it.

    fresh_until  the answer counts for a new group until then (`time.monotonic`)
    """

    table: Table
    reached: Reached
    fresh_until: float


def beginning_of(kafka: Mapping[str, Any], group: str, ask: Ask) -> Beginning:
    """Return where a group reads a table; wait if it is new and the table moved a moment ago.

    Raises what `ask` raises, BrokerUnreachable, NotPermitted, KafkaRefused.
    """
    while True:
        asked_at = time.monotonic()
        table = ask()
        reached = topic_to_read(kafka, group, table.name, mapped=table.topic)
        since = table.since.get(reached.topic)
        if reached.since is None and since is not None:
            reached = reached._replace(since=since.set)
        age = None if since is None or not reached.is_new else since.seconds
        if age is None or age >= SETTLE_SECONDS:
            return Beginning(table, reached, asked_at + FRESH_SECONDS)
        log_event(logging.INFO, "new_group_waits", group=group, seconds=SETTLE_SECONDS - age)
        time.sleep(SETTLE_SECONDS - age)


def unmoved_topic(kafka: Mapping[str, Any], group: str, table: Table) -> str:
    """Return the topic where a group that follows no moves reads a table.

    Raises TableMoved if the mapping has sent the table elsewhere since the group's last commit,
    BrokerUnreachable, NotPermitted, KafkaRefused.
    """
    topic = topic_to_read(kafka, group, table.name, mapped=table.topic).topic
    if topic not in table.topics:
        raise TableMoved(
            f"The mapping sends {table.name} to {', '.join(table.topics)}, and group {group} has "
            f"read it from topic {topic}.",
            READ_THE_REST.format(topic=topic),
        )
    return topic

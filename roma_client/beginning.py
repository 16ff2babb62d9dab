"""Finds the topic from which a group reads a table, even while a mapping edit moves the table to
another topic.
"""

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
"""Seconds for which a new group may use the admin's answer before it must have committed a
position.
"""
SETTLE_SECONDS: Final = 20.0
"""Seconds that a new group waits after an edit of the mapping.

Clients of the group that got the admin's answer from before the edit have committed their positions
by then. A client that starts later finds these commits and reads the same topic, so the group does
not begin in two topics.
"""
Ask = Callable[[], Table]


class Beginning(NamedTuple):
    """The admin's answer about a table, and the topic in which the group reads the table.

    fresh_until  time until which a new group may use the answer (`time.monotonic`)
    """

    table: Table
    reached: Reached
    fresh_until: float


def beginning_of(kafka: Mapping[str, Any], group: str, ask: Ask) -> Beginning:
    """Return from which topic a group reads a table. For a new group, wait if the table was moved a
    moment ago.

    kafka  librdkafka's settings
    group  the consumer group
    ask    returns the admin's answer about the table

    Raises the errors of `ask`, BrokerUnreachable, NotPermitted, KafkaRefused.
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
    """Return the topic in which a group reads a table, for a group that does not follow the table
    to another topic.

    Raises TableMoved if the mapping no longer sends the table to this topic, and
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

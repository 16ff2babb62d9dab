"""Finds the topics that can receive a DROP DATABASE statement."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Final

import structlog

from relay.errors import (
    FormatChanged,
    FormatsDiffer,
    PartitionsChanged,
    PartitionsDiffer,
    RelayError,
    TopicRefused,
)
from relay.pipeline.messages.row_topics import RowTopics
from relay.pipeline.messages.statements import RoutedStatement, statement_places

_log = structlog.stdlib.get_logger(__name__)

_TOPIC_CHANGED: Final[tuple[type[RelayError], ...]] = (
    FormatChanged,
    FormatsDiffer,
    PartitionsChanged,
    PartitionsDiffer,
    TopicRefused,
)


def usable_routes(
    routes: Sequence[RoutedStatement], topics: RowTopics, ddl: str
) -> list[RoutedStatement]:
    """Return the routes of a DROP DATABASE, without topics that were deleted or whose settings
    changed.

    The statement concerns every table that was ever read, so some of its topics may no longer be
    used; the instance does not stop for them, but logs `drop_not_told`. `ddl` is the setting
    `message.ddl`. Raises BrokerUnreachable.
    """
    lost = dict(_lost([topic for each in routes for topic in each.destination.topics], topics, ddl))
    for topic, reason in lost.items():
        _log.warning("drop_not_told", topic=topic, reason=reason)
    kept = (_without(each, lost) for each in routes)
    return [each for each in kept if each.destination.topics]


def _lost(names: Sequence[str], topics: RowTopics, ddl: str) -> Iterator[tuple[str, str]]:
    """Yield each topic that cannot have the statement, and why."""
    fed = [name for name in names if name in topics.counts]
    existing = topics.existing(fed) if fed else frozenset()
    for name in names:
        if name in fed and name not in existing:
            yield name, f"Topic {name}, to which this instance has published, is gone."
            continue
        try:
            for _ in statement_places(name, ddl, topics):
                pass
        except _TOPIC_CHANGED as exc:
            yield name, exc.reason


def _without(route: RoutedStatement, lost: Container[str]) -> RoutedStatement:
    to = route.destination
    topics = tuple(topic for topic in to.topics if topic not in lost)
    return route._replace(destination=replace(to, topics=topics))

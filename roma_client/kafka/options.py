"""The options of a feed, and the configuration of its Kafka consumer."""

import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from roma_client.records.decoding import Reading
from roma_client.records.moved import Departure, Followed
from roma_client.records.record import STATEMENT_SUFFIX
from roma_client.records.selection import Selection

Start: TypeAlias = Literal["earliest", "latest"]

_HEARTBEATS: Final = 12
"""Heartbeats in one session timeout. A takeover waits for the next one."""
_OWN: Final = frozenset(
    {
        *("group.id", "isolation.level", "enable.auto.commit", "enable.auto.offset.store"),
        *("auto.offset.reset", "partition.assignment.strategy", "session.timeout.ms"),
        *("heartbeat.interval.ms", "group.protocol", "group.instance.id", "client.id"),
        *("on_commit", "enable.partition.eof"),
    }
)
"""Settings of the consumer that a subscription decides about."""


@dataclass(frozen=True)
class FeedOptions:
    """What one client reads.

    kafka                    librdkafka's settings, with `bootstrap.servers`
    start                    where a group without any committed offset begins
    exclusive                whether one client of the group has all partitions
    session_timeout_seconds  a client that sends no heartbeat for so long loses its partitions
    follow                   the table whose moves to other topics are followed; None: none
    move_seconds             how long after a move the markers may take
    by_hand                  a table that is read from a topic that the service named; None: none
    stays                    a table that is read without following its moves; None: none
    again                    returns newer options for a new group whose first assignment comes
                             after `fresh_until` (`time.monotonic`): see ADR 78
    appeared                 topics that Kafka did not have when the client subscribed first
    """

    group: str
    topics: tuple[str, ...]
    selection: Selection
    reading: Reading
    kafka: Mapping[str, Any] = field(repr=False)
    start: Start = "earliest"
    exclusive: bool = False
    session_timeout_seconds: float = 10
    follow: Followed | None = None
    move_seconds: float = 600
    by_hand: str | None = None
    stays: str | None = None
    fresh_until: float = float("inf")
    again: "Callable[[], FeedOptions] | None" = field(default=None, repr=False)
    appeared: frozenset[str] = frozenset()

    def moved(self, departure: Departure) -> "FeedOptions":
        """Return the options for the next topic of the followed table.

        Raises ValueError for a feed that follows no table.
        """
        follow = self.follow
        if follow is None:
            raise ValueError("no table is followed")
        topic = departure.to
        return replace(
            self,
            topics=(topic, *(topic + STATEMENT_SUFFIX for _ in self.topics[1:])),
            selection=self.selection.at(follow.name, topic),
            start="earliest",
            follow=replace(follow, topic=topic, after=departure.set),
            fresh_until=float("inf"),
            again=None,
        )


def owned_settings(kafka: Mapping[str, Any]) -> list[str]:
    """Return the names of settings in `kafka` that only the subscription may set."""
    return sorted(set(kafka) & _OWN)


def consumer_config(options: FeedOptions) -> Mapping[str, Any]:
    """Return the configuration of the consumer.

    The id of an exclusive client begins with its start time, so that the oldest member of the group
    can be found by its id. For clients of older releases, the active client is the one that has
    partition 0 of the first topic. Kafka's range assignor sorts members by their ids, so that is
    the oldest member too if all clients have the same topics.
    """
    session_ms = int(options.session_timeout_seconds * 1000)
    started = f"{time.time_ns() // 1_000_000:014d}"
    own = {
        "group.id": options.group,
        "client.id": f"roma-{started}-{socket.gethostname()}-{os.getpid()}",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",  # a gap is reported, never skipped
        "partition.assignment.strategy": "range" if options.exclusive else "cooperative-sticky",
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": max(100, session_ms // _HEARTBEATS),
    }
    return MappingProxyType({"fetch.wait.max.ms": 100, **options.kafka, **own})

"""Makes the markers of moved tables.

One marker ends the tables of a database in a topic that they leave (ADR 78). Another one says that
tables come back to a topic (ADR 81).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import structlog

from relay.envelope import DDL_TOPIC_SUFFIX, Header, MovedMarker
from relay.errors import BatchAborted, Stop, Unreachable, VersionConflict
from relay.model.message import OutboundMessage
from relay.model.names.topic_template import is_template
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topics import Topics
from relay.route import MappingSet, TableMove, table_arrivals, table_moves
from relay.settings import InstanceSettings

_READABLE: Final = "canal-json"
_log = structlog.stdlib.get_logger(__name__)


class MoveMarkers:
    """Makes the markers of one instance. They are committed with the first record that names the
    newer mapping set.
    """

    def __init__(self, instance: InstanceSettings, topics: Topics, feeders: TopicFeeders) -> None:
        self._instance = instance
        self._topics = topics
        self._feeders = feeders
        self._prepared: list[MovedMarker] = []

    def prepare(self, sets: Sequence[MappingSet]) -> None:
        """Prepare the markers for a change-over through the mapping sets `sets`, in their order;
        read from ZooKeeper which instances publish to the topics that tables leave.

        Each step between two sets has its own markers. So an instance that changes over to the last
        set at once writes the same markers as one that activated each set. Raises StoreUnreachable:
        the change-over must then wait.
        """
        self._prepared = []
        if not self._instance.topic.move_markers or not any(map(_differ, sets, sets[1:])):
            return
        fed = {*self._topics.counts, *self._feeders.topics()}
        joins: set[str] = set()
        for before, after in pairwise(sets):
            for move in table_moves(before, after, fed | joins):
                names = {*self._feeders.names(move.topic), *self._joining(move.topic, joins)}
                if self._instance.name in names:
                    names_of_all = tuple(sorted(names))
                    self._prepared.append(MovedMarker(*move, self._instance.name, names_of_all))
                    joins |= {each for each in move.to if not is_template(each)}
                elif move.topic in self._topics.counts:
                    self._warn_unnamed(move)
            self._prepared += list(self._arrivals(table_arrivals(before, after, fed)))

    def messages(self) -> Iterator[OutboundMessage]:
        """Yield the prepared markers, in their order.

        For a topic that this instance joined just now, the instances are read again, because others
        may have joined too. Raises BrokerUnreachable, StoreUnreachable.
        """
        prepared, self._prepared = self._prepared, []
        if not prepared:
            return
        joined = {topic for marker in prepared for topic in self._join_next(marker)}
        later = {topic for marker in prepared for topic in marker.to} - joined
        counts = self._topics.cluster_counts()
        for marker in prepared:
            if marker.topic in later and marker.topic not in self._topics.counts:
                continue  # the instance does not feed it
            feeders = set(marker.feeders)
            if marker.topic in joined:
                feeders.update(self._feeders.names(marker.topic))
            told = replace(marker, to=self._readable_first(marker), feeders=tuple(sorted(feeders)))
            headers = ((Header.MOVED.value, told.header()),)
            for topic in (marker.topic, marker.topic + DDL_TOPIC_SUFFIX):
                for partition in range(counts.get(topic, 0)):
                    yield OutboundMessage(topic, partition, marker.key(), None, headers)

    def _readable_first(self, marker: MovedMarker) -> tuple[str, ...]:
        """Return the next topics, those that `roma_client` can read first: it reads the first."""

        def is_unreadable(topic: str) -> bool:
            return self._instance.format_of(topic.replace("{db}", marker.database)) != _READABLE

        return tuple(sorted(marker.to, key=is_unreadable))

    def _arrivals(self, moves: Iterable[TableMove]) -> Iterator[MovedMarker]:
        """Yield the markers of topics that this instance fed before, also where ZooKeeper lost the
        agreement.
        """
        for move in moves:
            names = self._feeders.names(move.topic)
            left = any(each.topic == move.topic for each in self._prepared)
            if left or self._instance.name in names or move.topic in self._topics.counts:
                yield MovedMarker(*move, self._instance.name, names)

    def _joining(self, topic: str, joins: Collection[str]) -> tuple[str, ...]:
        """Return this instance for a topic that it joins in this change-over."""
        return (self._instance.name,) if topic in joins else ()

    def _warn_unnamed(self, move: TableMove) -> None:
        """Log that no marker is written: ZooKeeper lost the agreement, and may lack others too."""
        _log.warning(
            "move_not_marked",
            instance=self._instance.name,
            topic=move.topic,
            reason="ZooKeeper does not name this instance among those that feed the topic.",
        )

    def _join_next(self, marker: MovedMarker) -> Iterator[str]:
        """Feed the next topics from now on, and yield those: a table may leave one before its first
        row there.

        What keeps the instance from feeding one is no reason to stop before that row is due.
        """
        for topic in marker.to:
            if is_template(topic):
                continue
            try:
                self._topics.partitions(topic)
            except (Stop, Unreachable, BatchAborted, VersionConflict) as exc:
                _log.warning(
                    "next_topic_not_fed",
                    instance=self._instance.name,
                    topic=topic,
                    reason=exc.reason,
                )
            else:
                yield topic


def _differ(before: MappingSet, after: MappingSet) -> bool:
    return before.topics_by_database != after.topics_by_database

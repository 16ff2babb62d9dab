"""Finds the mapping set that first routed a logical database to a topic."""

import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from api.services.mappings.mapping_archive import MappingArchive
from relay.errors import MappingRefused, NodeMissing
from relay.route import TOPICS, MappingSet, has_topic
from relay.state import SetRecord

_MOST_SETS: Final = 200
"""Older sets are not read: each costs requests to ZooKeeper, once."""
_MILLISECONDS: Final = 1000
Topics = Mapping[str, tuple[str, ...]]


class Arrival(NamedTuple):
    """The mapping set that first routed a database to a topic.

    number   number of the set; 0: no older set without the topic is known
    seconds  time since the set was saved, if the database had other topics before; None: it had
             none, or the time of the save is unknown
    """

    number: int
    seconds: float | None


class TopicArrivals:
    """Finds the set that first routed a logical database to a topic. Saved sets never change, so
    each is read only once.
    """

    def __init__(self, archive: MappingArchive, now: Callable[[], float] = time.time) -> None:
        self._archive = archive
        self._now = now
        self._read: tuple[int, list[tuple[SetRecord, Topics]]] = (-1, [])
        self._by_version: dict[int, Topics] = {}

    def since(self, number: int, database: str, topic: str) -> Arrival:
        """Return the oldest of the consecutive sets up to `number` under which the database has the
        topic.

        `number` is that of the active set. Raises StoreUnreachable.
        """
        first, seconds = number, None
        for record, topics in self._sets(number):
            if not has_topic(topics, database, topic):
                return Arrival(first, seconds if topics.get(database) else None)
            first, saved_ms = record.number, record.note.saved_ms
            seconds = max(0.0, self._now() - saved_ms / _MILLISECONDS) if saved_ms else None
            if record.is_apart:
                break  # the sets before are another store's: nothing was published under them
        return Arrival(0, None)

    def _sets(self, number: int) -> list[tuple[SetRecord, Topics]]:
        """Return the readable sets up to a number, the newest first."""
        if self._read[0] != number:
            records = [each for each in self._archive.sets(_MOST_SETS) if each.number <= number]
            found = [(each, self._topics(each)) for each in records]
            self._read = number, [(each, topics) for each, topics in found if topics is not None]
        return self._read[1]

    def _topics(self, record: SetRecord) -> Topics | None:
        """Return the topics of a set, None for one that was broken and never active."""
        version = record.versions.get(TOPICS, 0)
        if version not in self._by_version:
            try:
                stored = self._archive.set(record.number)
                mapping = MappingSet.compile(stored.number, stored.bodies)
            except (NodeMissing, MappingRefused):
                return None
            self._by_version[version] = mapping.topics_by_database
        return self._by_version[version]

"""Refuses a mapping under which a table returns to a former topic while instances still publish
under a mapping set from before the table left that topic (ADR 81).
"""

from collections.abc import Mapping

from relay.errors import TableReturnsEarly
from relay.pipeline.saved_sets import SavedSets
from relay.route import MappingSet, early_returns
from relay.state import InstanceStore, MappingStore


class EarlyReturns:
    """Checks a new mapping set against the statuses of an installation's instances."""

    def __init__(self, store: MappingStore, notes: InstanceStore) -> None:
        self._store = store
        self._notes = notes

    def refuse(self, bodies: Mapping[str, str]) -> None:
        """Raise TableReturnsEarly if, under the documents `bodies`, a table would return to a
        former topic too early.

        The documents are compared with the newest mapping set that can be read. Raises
        MappingRefused, StoreUnreachable.
        """
        sets = SavedSets(self._store)
        newest = max(self._store.set_numbers(), default=0)
        readable = (sets.compiled(each) for each in range(newest, -1, -1))
        before = next(each for each in readable if each is not None)
        after = MappingSet.compile(newest + 1, dict(bodies))
        if before.topics_by_database == after.topics_by_database:
            return
        fed, published = self._notes.topics.topics(), self._notes.published_sets
        for found in early_returns(before, after, fed, published, sets.compiled):
            raise TableReturnsEarly(*found)

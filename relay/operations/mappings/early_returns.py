"""Refuses a mapping that gives tables a topic again which some instances have not left (ADR 81)."""

from collections.abc import Mapping

from relay.errors import TableReturnsEarly
from relay.pipeline.saved_sets import SavedSets
from relay.route import MappingSet, early_returns
from relay.state import InstanceStore, MappingStore


class EarlyReturns:
    """Decides about the saves of one installation, by what its instances report."""

    def __init__(self, store: MappingStore, notes: InstanceStore) -> None:
        self._store = store
        self._notes = notes

    def refuse(self, bodies: Mapping[str, str]) -> None:
        """Raise TableReturnsEarly if these documents, saved next, give a topic back too early.

        The newest readable set counts as the one before. Raises MappingRefused, StoreUnreachable.
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

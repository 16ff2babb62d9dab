"""How far an instance may change over: a table comes back to a topic only when all instances that
feed the topic have ended it there (ADR 81).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import monotonic
from typing import Final, TypeAlias

from relay.errors import TableReturnsEarly
from relay.route import MappingSet, early_returns
from relay.state import InstanceStore

_PAUSE_SECONDS: Final = 1.0
"""Pause between two looks at the instances that are behind."""

Saved: TypeAlias = Callable[[int], MappingSet | None]
"""Returns a saved set; None for one that is missing or broken."""


class HeldReturns:
    """Decides for one instance, by the statuses of the others."""

    def __init__(self, notes: InstanceStore | None, saved: Saved, instance: str) -> None:
        """Without `notes` nothing is held."""
        self._notes = notes
        self._saved = saved
        self._instance = instance
        self._look_at = 0.0

    @property
    def is_pausing(self) -> bool:
        """Return whether the last look is too fresh for another one."""
        return monotonic() < self._look_at

    def allowed(
        self, chain: Sequence[MappingSet]
    ) -> tuple[Sequence[MappingSet], TableReturnsEarly | None]:
        """Return the sets of a change-over that may be in force now, and why not all of them.

        The first one always may. Raises StoreUnreachable.
        """
        self._look_at = 0.0
        if self._notes is None or not any(_differ(*each) for each in pairwise(chain)):
            return chain, None
        fed = self._notes.topics.topics()
        for at, (before, after) in enumerate(pairwise(chain), 1):
            found = list(early_returns(before, after, fed, self._others, self._saved))
            if found:
                self._look_at = monotonic() + _PAUSE_SECONDS
                return chain[:at], TableReturnsEarly(*found[0])
        return chain, None

    def no_other_is_beyond(self, topic: str, number: int) -> bool:
        """Return whether all other instances that feed a topic publish under exactly this set, as
        far as Kafka has it. Raises StoreUnreachable.
        """
        return all(each == number for each in self._others(topic).values())

    def _others(self, topic: str) -> Mapping[str, int | None]:
        if self._notes is None:
            return {}
        found = self._notes.published_sets(topic)
        return {name: number for name, number in found.items() if name != self._instance}


def _differ(before: MappingSet, after: MappingSet) -> bool:
    return before.topics_by_database != after.topics_by_database

"""Limits how far an instance may change over to newer mapping sets.

A set may give a table a topic again that an older set took from it. It becomes active only when all
other instances of the topic have published under a set in which the table has left it (ADR 81).
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


class TableReturnGuard:
    """Decides for one instance which newer mapping sets may be active, from the statuses of the
    other instances.
    """

    def __init__(self, notes: InstanceStore | None, saved: Saved, instance: str) -> None:
        """`notes` reads the statuses; None: every set is allowed at once. `saved` returns a saved
        mapping set.
        """
        self._notes = notes
        self._saved = saved
        self._instance = instance
        self._look_at = 0.0

    @property
    def is_pausing(self) -> bool:
        """Return whether no new check is due, because the last check did not allow a set and is
        less than a second old.
        """
        return monotonic() < self._look_at

    def allowed(
        self, chain: Sequence[MappingSet]
    ) -> tuple[Sequence[MappingSet], TableReturnsEarly | None]:
        """Return the first sets of `chain` that may be active now, and why the next one may not.

        `chain` is the active set and the sets saved after it, in this order; the first one is
        always allowed. The reason is None if all are allowed. Raises StoreUnreachable.
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
        """Return whether all other instances of a topic publish under the mapping set `number`.

        The sets in their last committed records count. The result is False if one of these sets is
        newer, older or unknown. Raises StoreUnreachable.
        """
        return all(each == number for each in self._others(topic).values())

    def _others(self, topic: str) -> Mapping[str, int | None]:
        if self._notes is None:
            return {}
        found = self._notes.published_sets(topic)
        return {name: number for name, number in found.items() if name != self._instance}


def _differ(before: MappingSet, after: MappingSet) -> bool:
    return before.topics_by_database != after.topics_by_database

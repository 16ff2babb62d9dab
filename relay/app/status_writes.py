"""Chooses the statuses that a relay writes to ZooKeeper now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, TypeAlias

from relay.state import InstanceStatus

MOST_SECONDS: Final = 5
"""Largest age in seconds of a running instance's status in ZooKeeper, at one refresh per second."""
ALWAYS_WRITTEN: Final = 4
"""A relay with at most this many instances writes all statuses at each refresh."""

_Decisive: TypeAlias = "tuple[str, str, str, int, int, int | None, str, str, bool]"


@dataclass(frozen=True, slots=True)
class _Written:
    """The status of an instance that was last written, and the number of its refresh."""

    decisive: _Decisive
    refresh: int


def _decisive(status: InstanceStatus) -> _Decisive:
    """Return the fields on which other processes act; a change of one is written at once."""
    return (
        status.state,
        status.code,
        status.reason,
        status.epoch,
        status.mapping_set,
        status.published_set,
        status.held_back,
        status.spool,
        bool(status.snapshot),
    )


@dataclass(frozen=True, slots=True)
class StatusWrites:
    """The statuses that a relay has written. Each refresh makes a new value.

    Writing the status of a thousand instances every second would burden ZooKeeper. A change of
    state is written at once. Other changes are written in turn, the oldest first, so that no status
    is older than `MOST_SECONDS` refreshes.
    """

    written: Mapping[str, _Written]
    refresh: int = 0

    def chosen(self, statuses: Sequence[InstanceStatus]) -> list[InstanceStatus]:
        """Return the statuses to write in this refresh."""
        urgent: list[InstanceStatus] = []
        others: list[InstanceStatus] = []
        for each in statuses:
            (urgent if self._is_urgent(each) else others).append(each)
        others.sort(key=lambda each: self.written[each.name].refresh)
        most = max(ALWAYS_WRITTEN, ceil(len(statuses) / MOST_SECONDS))
        return [*urgent, *others[:most]]

    def after(
        self, statuses: Sequence[InstanceStatus], written: Sequence[InstanceStatus]
    ) -> "StatusWrites":
        """Return the StatusWrites after a refresh.

        statuses  the statuses of all instances that this relay leads
        written   those of `statuses` that the relay has written to ZooKeeper in this refresh

        An instance that is not in `statuses` is removed, because another relay writes its status.
        """
        kept = {each.name for each in statuses} & self.written.keys()
        new = {each.name: _Written(_decisive(each), self.refresh) for each in written}
        return StatusWrites(
            {**{name: self.written[name] for name in kept}, **new}, self.refresh + 1
        )

    def _is_urgent(self, status: InstanceStatus) -> bool:
        known = self.written.get(status.name)
        return known is None or known.decisive != _decisive(status)

"""Combines the answers of several workers into one, without input or output."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from relay.pipeline import InstanceState

Status: TypeAlias = Mapping[str, Any]

_PREFERENCE: Final = {
    state.value: place
    for place, state in enumerate(
        (
            InstanceState.RUNNING,
            InstanceState.PAUSED,
            InstanceState.WAITING,
            InstanceState.STOPPED,
            InstanceState.STANDBY,
            InstanceState.STARTING,
            InstanceState.ENDED,
        )
    )
}
"""States by how much they say about an instance: first those of a leader, then a standby's."""


def union(found: Iterable[Sequence[Status]]) -> list[Status]:
    """Return one status for each instance, sorted by name, from the lists of several workers.

    The leader's status is used. If two workers claim to lead, the newer status is used: the other
    worker was paused and has not detected that it lost leadership. Without a leader, the status of
    a standby that could lead is used before one with an error.
    """
    chosen: dict[str, Status] = {}
    for status in (each for statuses in found for each in statuses):
        name = str(status["name"])
        if name not in chosen or _rank(status) < _rank(chosen[name]):
            chosen[name] = status
    return [chosen[name] for name in sorted(chosen)]


def _rank(status: Status) -> tuple[int, int, bool]:
    leading_since_ms = int(status.get("leading_since_ms") or 0)
    state = _PREFERENCE.get(str(status["state"]), len(_PREFERENCE))
    return -leading_since_ms, state, bool(status.get("code"))

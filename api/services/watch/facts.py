"""What is known of one instance at one moment."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.models.instance import InstanceView

STANDBY: Final = "STANDBY"
_OUTLIVES: Final = frozenset({"STOPPED", "ENDED", "STANDBY", "NEVER_REPORTED", "UNKNOWN"})
"""States that hold whether or not the relay that reported them still lives."""


class StatePeriod(NamedTuple):
    """A state, from `since_ms` (Unix milliseconds) until the next period.

    An empty state is a gap: nothing was read. `exact`: the change itself was seen; otherwise the
    state may have begun earlier.
    """

    since_ms: int
    state: str
    code: str
    reason: str
    relay: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """One instance at one moment. Times in Unix milliseconds, None while the condition is false.

    view              the status as its relay reported it last
    period            the present state, and since when it holds
    rate              rows per second, None where unknown
    lag_since_ms      since when the lag is above the limit
    mapping_since_ms  since when a newer mapping set cannot be used
    spool_since_ms    since when the spool on disk is full
    letters_ms        when the newest dead letters came
    letters           dead letters that came since the watch began
    """

    view: InstanceView
    period: StatePeriod
    rate: float | None = None
    lag_since_ms: int | None = None
    mapping_since_ms: int | None = None
    spool_since_ms: int | None = None
    letters_ms: int | None = None
    letters: int = 0


def present_state(view: InstanceView) -> str:
    """Return the state that holds now: STANDBY once the relay that ran the instance is gone."""
    return view.state if view.relay_alive or view.state in _OUTLIVES else STANDBY

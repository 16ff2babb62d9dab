"""Computes the lag of an instance from the last recorded times. The functions are pure."""

from dataclasses import dataclass, replace

HEARTBEATS_FRESH = 2
"""For this many heartbeat intervals, the report that the source has no more data remains valid. An
idle source repeats the report with each heartbeat, and one of them may be late.
"""


@dataclass(frozen=True, slots=True)
class Reached:
    """The times up to which everything is processed; None: unknown.

    change_s  time of the newest published or filtered change, in Unix seconds
    idle_s    the last time at which the source had no more data, in seconds of the monotonic clock,
              because the wall clock may be set
    """

    change_s: float | None = None
    idle_s: float | None = None

    def with_change(self, change_s: float) -> "Reached":
        """Return the times after all changes up to `change_s` (Unix seconds) are processed.

        An older time has no effect: a client of the source can set the time of its changes (`SET
        timestamp`).
        """
        return (
            self
            if self.change_s is not None and change_s <= self.change_s
            else replace(self, change_s=change_s)
        )

    def with_idle(self, running_s: float) -> "Reached":
        """Return the times after the source had no more data. `running_s` is the monotonic clock at
        that time.
        """
        return replace(self, idle_s=running_s)


def lag_seconds(
    reached: Reached, now_s: float, running_s: float, heartbeat_s: float
) -> float | None:
    """Return the lag in seconds; 0 if the source has no more data and no item waits, None if the
    lag is unknown.

    reached      the times up to which everything is processed
    now_s        the present Unix time
    running_s    the monotonic clock now
    heartbeat_s  the interval in seconds at which an idle source sends heartbeats
    """
    idle_for_s = None if reached.idle_s is None else running_s - reached.idle_s
    if idle_for_s is not None and idle_for_s <= HEARTBEATS_FRESH * heartbeat_s:
        return 0.0
    behind_change_s = None if reached.change_s is None else now_s - reached.change_s
    known = [each for each in (behind_change_s, idle_for_s) if each is not None]
    return max(0.0, min(known)) if known else None

"""How far the instance is behind its source: a pure judgement on what was noted last."""

from dataclasses import dataclass, replace

HEARTBEATS_FRESH = 2
"""A source that has nothing more says so with every heartbeat; one may be late."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Up to when everything is done; None: not known yet.

    `change_s` is the time of the newest change that is visible or left out, in Unix seconds.
    `idle_s` is the last moment at which the source said that it has nothing more, in seconds of the
    monotonic clock: it must stay in the past when the wall clock is set back.
    """

    change_s: float | None = None
    idle_s: float | None = None

    def with_change(self, change_s: float) -> "Reached":
        """Everything up to a change of this time is done.

        An older one, as sessions may date them, takes nothing back.
        """
        return (
            self
            if self.change_s is not None and change_s <= self.change_s
            else replace(self, change_s=change_s)
        )

    def with_idle(self, running_s: float) -> "Reached":
        """The source has nothing more."""
        return replace(self, idle_s=running_s)


def lag_seconds(
    reached: Reached, now_s: float, running_s: float, heartbeat_s: float
) -> float | None:
    """Seconds that the instance is behind: 0 while nothing waits, growing while it does not keep up
    or stands still; None: not known.

    `now_s` is Unix time, `running_s` the monotonic clock.
    """
    idle_for_s = None if reached.idle_s is None else running_s - reached.idle_s
    if idle_for_s is not None and idle_for_s <= HEARTBEATS_FRESH * heartbeat_s:
        return 0.0
    behind_change_s = None if reached.change_s is None else now_s - reached.change_s
    known = [each for each in (behind_change_s, idle_for_s) if each is not None]
    return max(0.0, min(known)) if known else None

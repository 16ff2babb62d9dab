"""How far the instance is behind its source: a pure judgement on what was noted last."""

from dataclasses import dataclass, replace

HEARTBEATS_FRESH = 2
"""A source that has nothing more says so with every heartbeat; one may be late."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Up to when everything is done, Unix seconds; None: not known yet.

    `change_s` is the time of the newest change that is visible or left out, `idle_s` the last moment at which the source said that it has
    nothing more.
    """

    change_s: float | None = None
    idle_s: float | None = None

    def with_change(self, change_s: float) -> "Reached":
        """Everything up to a change of this time is done; an older one, as sessions may date them, takes nothing back."""
        return self if self.change_s is not None and change_s <= self.change_s else replace(self, change_s=change_s)

    def with_idle(self, now_s: float) -> "Reached":
        """The source has nothing more."""
        return replace(self, idle_s=now_s)


def lag_seconds(reached: Reached, now_s: float, heartbeat_s: float) -> float | None:
    """Seconds that the instance is behind: 0 while nothing waits, growing while it does not keep up or stands still; None: not known."""
    if reached.idle_s is not None and now_s - reached.idle_s <= HEARTBEATS_FRESH * heartbeat_s:
        return 0.0
    known = [each for each in (reached.change_s, reached.idle_s) if each is not None]
    return max(0.0, now_s - max(known)) if known else None

"""Consecutive failures, and the pause after each. `relay.pipeline` computes its pauses with it.

Values only: the caller passes the time.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Streak:
    """The consecutive failures.

    `in_a_row` counts them, `pause_s` is the pause after the last one, which happened at
    `failed_at_s`.
    """

    in_a_row: int = 0
    pause_s: float = 0.0
    failed_at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StreakRule:
    """How pauses grow with failures in a row. Each pause is twice the last one.

    `longest_s` limits a pause; a time of `forgotten_after_s` without a failure ends the streak. All
    in seconds.
    """

    first_s: float
    longest_s: float
    forgotten_after_s: float

    def after_failure(self, streak: Streak, now_s: float) -> Streak:
        """Return the streak with a failure that came at `now_s` of a monotonic clock."""
        if not streak.in_a_row or now_s - streak.failed_at_s >= self.forgotten_after_s:
            return Streak(1, self.first_s, now_s)
        return Streak(streak.in_a_row + 1, min(2 * streak.pause_s, self.longest_s), now_s)

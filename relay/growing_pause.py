"""Pauses between attempts that fail repeatedly."""

from time import monotonic

from relay.failure_streak import Streak, StreakRule


class GrowingPause:
    """Each pause is twice the last one, up to `longest_s`.

    After `forgotten_after_s` without a failure it begins with `first_s` again.
    """

    def __init__(self, first_s: float, longest_s: float, forgotten_after_s: float) -> None:
        self._rule = StreakRule(first_s, longest_s, forgotten_after_s)
        self._streak = Streak()

    def after_failure(self) -> float:
        """Return how long to pause after a failure that happened now, in seconds."""
        self._streak = self._rule.after_failure(self._streak, monotonic())
        return self._streak.pause_s

"""Pauses between attempts that fail again and again."""

from time import monotonic


class GrowingPause:
    """Each pause is twice the last one, up to `longest_s`; after `forgotten_after_s` without a failure it begins with `first_s` again."""

    def __init__(self, first_s: float, longest_s: float, forgotten_after_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._forgotten_after_s = forgotten_after_s
        self._last_s = 0.0
        self._failed_at_s = 0.0
        self.in_a_row = 0
        """Failures so far that followed one another within `forgotten_after_s`."""

    def after_failure(self) -> float:
        """Return how long to rest after a failure that came now, in seconds."""
        now_s = monotonic()
        recently = self._last_s > 0 and now_s - self._failed_at_s < self._forgotten_after_s
        self._last_s = min(2 * self._last_s, self._longest_s) if recently else self._first_s
        self.in_a_row = self.in_a_row + 1 if recently else 1
        self._failed_at_s = now_s
        return self._last_s

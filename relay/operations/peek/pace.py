"""Limits how many rows per second are shown to a reader."""

from typing import Final

ROWS_PER_SECOND: Final = 5
"""Rows per second without a key filter."""
FILTERED_ROWS_PER_SECOND: Final = 100
"""Rows per second with a key filter; rows beyond it are delayed, none is skipped."""


class RowPace:
    """Allows `per_second` rows per second, and `burst` rows at once at the beginning. `now_s` is
    the time in seconds, always of the same clock.
    """

    def __init__(self, per_second: int, burst: int, now_s: float) -> None:
        self._per_second = per_second
        self._left = float(burst)
        self._at_s = now_s

    def take(self, wanted: int, now_s: float) -> int:
        """Return how many of the `wanted` rows may be shown now, and count them as shown."""
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        refilled = min(float(self._per_second), self._left + passed_s * self._per_second)
        self._left = max(self._left, refilled)
        taken = min(wanted, int(self._left))
        self._left -= taken
        return taken

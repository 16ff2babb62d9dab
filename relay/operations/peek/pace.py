"""How many rows a reader gets in a second."""

from typing import Final

ROWS_PER_SECOND: Final = 5
"""Of all keys of a table."""
FILTERED_ROWS_PER_SECOND: Final = 100
"""With a key filter, where no row is left out."""


class RowPace:
    """Allows a number of rows per second, and `burst` at once in the beginning."""

    def __init__(self, per_second: int, burst: int, now_s: float) -> None:
        self._per_second = per_second
        self._left = float(burst)
        self._at_s = now_s

    def take(self, wanted: int, now_s: float) -> int:
        """Return how many of the wanted rows may be shown now, and add them to the count."""
        passed_s, self._at_s = max(0.0, now_s - self._at_s), now_s
        refilled = min(float(self._per_second), self._left + passed_s * self._per_second)
        self._left = max(self._left, refilled)
        taken = min(wanted, int(self._left))
        self._left -= taken
        return taken

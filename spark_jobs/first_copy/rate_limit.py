"""Computes the pauses between rounds that keep the mean rate below a limit."""

from collections.abc import Callable
from time import monotonic


class Pace:
    """Computes pauses from the rows counted since its creation, so that the mean rate stays below
    `rows_per_second` (None: no limit). `clock` returns seconds.
    """

    def __init__(self, rows_per_second: int | None, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rows_per_second
        self._clock = clock
        self._began = clock()
        self._rows = 0

    def pause_s(self, rows: int) -> float:
        """Count the rows of a round; return the seconds to wait before the next round."""
        self._rows += rows
        if self._rate is None:
            return 0.0
        return max(0.0, self._rows / self._rate - (self._clock() - self._began))

    @property
    def rows_per_second(self) -> float:
        """Mean rows per second since the creation, including pauses."""
        return self._rows / max(self._clock() - self._began, 0.001)


def round_rows(
    range_rows: int, parallel: int, rows_per_second: int | None, burst_seconds: int = 10
) -> int:
    """Return the number of rows of one range.

    range_rows       configured rows of a range
    parallel         number of ranges in a round
    rows_per_second  limit of the mean rate; None: no limit
    burst_seconds    a round has at most the rows that the limit allows in this time, because the
                     rate within a round is not limited
    """
    if rows_per_second is None:
        return range_rows
    return max(1, min(range_rows, rows_per_second * burst_seconds // parallel))

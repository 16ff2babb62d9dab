"""How long to wait between two rounds, so that the mean stays below a rate."""

from collections.abc import Callable
from time import monotonic


class Pace:
    """Counts rows from its creation on. `rows_per_second` None: no limit.

    `clock` returns seconds.
    """

    def __init__(self, rows_per_second: int | None, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rows_per_second
        self._clock = clock
        self._began = clock()
        self._rows = 0

    def pause_s(self, rows: int) -> float:
        """Count the rows of a round; return how many seconds to wait before the next one."""
        self._rows += rows
        if self._rate is None:
            return 0.0
        return max(0.0, self._rows / self._rate - (self._clock() - self._began))

    @property
    def rows_per_second(self) -> float:
        """The mean rate so far, including pauses."""
        return self._rows / max(self._clock() - self._began, 0.001)


def round_rows(
    range_rows: int, parallel: int, rows_per_second: int | None, burst_seconds: int = 10
) -> int:
    """Return the rows of one range.

    A round of a slow copy has the rows that its rate allows in `burst_seconds`, because a round
    itself is not throttled.
    """
    if rows_per_second is None:
        return range_rows
    return max(1, min(range_rows, rows_per_second * burst_seconds // parallel))

"""Computes rows per second of each table over the last minute, from counters that only grow."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from relay.telemetry.table_counts import OTHER

STEP_SECONDS: Final = 10.0
"""Interval in seconds at which counters are read, and rates change."""
_STEPS: Final = 6


class TableRates:
    """Rates of the `most` busiest tables, and of all others together; threads may share one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._readings: deque[tuple[float, Mapping[str, int]]] = deque(maxlen=_STEPS + 1)
        self._rates: dict[str, float] = {}
        self._lock = threading.Lock()

    def now(self, counters: Callable[[], Mapping[str, int]], now_s: float) -> dict[str, float]:
        """Return rows per second by table, without tables whose rate is 0.

        `counters` returns the rows so far; it is called every ten seconds. `now_s` is the time of
        the monotonic clock.
        """
        with self._lock:
            if not self._readings or now_s - self._readings[-1][0] >= STEP_SECONDS:
                self._readings.append((now_s, counters()))
                self._rates = _rates(*self._readings[0], *self._readings[-1], self._most)
            return self._rates


def _rates(
    first_s: float, first: Mapping[str, int], last_s: float, last: Mapping[str, int], most: int
) -> dict[str, float]:
    elapsed_s = last_s - first_s
    if elapsed_s <= 0:
        return {}
    rates = {name: (rows - first.get(name, 0)) / elapsed_s for name, rows in last.items()}
    busiest = sorted(((rate, name) for name, rate in rates.items() if rate > 0), reverse=True)
    found = {name: round(rate, 2) for rate, name in busiest[:most]}
    if others := sum(rate for rate, _ in busiest[most:]):
        found[str(OTHER.table)] = round(others, 2)
    return found

"""A wall clock that never goes back, for decisions that wait for a time to pass."""

import threading
from collections.abc import Callable
from time import monotonic, time


class SteadyClock:
    """Unix time that never goes back.

    While the machine's clock is set back, this clock continues at normal speed. If the machine's
    clock is set forward, this clock follows it. `wall` returns Unix seconds, `running` monotonic
    seconds. Any thread may call it.
    """

    def __init__(
        self, wall: Callable[[], float] = time, running: Callable[[], float] = monotonic
    ) -> None:
        self._wall = wall
        self._running = running
        self._began_s = wall() - running()
        self._lock = threading.Lock()

    def now_ms(self) -> int:
        """Return Unix milliseconds, never less than before."""
        with self._lock:
            running_s = self._running()
            self._began_s = max(self._began_s, self._wall() - running_s)
            return int((self._began_s + running_s) * 1000)

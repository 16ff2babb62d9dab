"""Limits the number of parallel readers of topics in one admin, in total and per caller."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Final

from api.errors import PeeksBusy

MOST_PEEKS: Final = 8
"""Largest number of parallel readers in one admin, streams and pages together. Each may block one
thread.
"""
MOST_OF_A_CALLER: Final = 4
"""Largest number of parallel readers of one caller, so that others can read too."""


class PeekSlots:
    """Counts the open readers of topics, in total and for each caller. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    def take(self, caller: str) -> Callable[[], None]:
        """Count one more open reader of `caller`. Return a function that ends the count; call it
        exactly once.

        Raises PeeksBusy if a limit is reached. All callers without a name share one limit.
        """
        with self._lock:
            if self._open[caller] >= MOST_OF_A_CALLER:
                raise PeeksBusy(
                    f"{caller or 'A caller without a name'} already has {MOST_OF_A_CALLER} open "
                    "readers of topics, which is the limit of one caller."
                )
            if self._open.total() >= MOST_PEEKS:
                raise PeeksBusy(
                    f"This admin already has {MOST_PEEKS} open readers of topics, which is its "
                    "limit."
                )
            self._open[caller] += 1
        return partial(self._release, caller)

    def _release(self, caller: str) -> None:
        with self._lock:
            self._open[caller] -= 1
            self._open += Counter()  # drops callers without a reader

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
"""Largest number of these for one caller: the open pages of one person leave readers for others."""


class PeekSlots:
    """Counts open readers. Threads may share one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: Counter[str] = Counter()

    def take(self, caller: str) -> Callable[[], None]:
        """Take a slot and return the function that frees it; call that once.

        Raises PeeksBusy. All callers without a name share one limit.
        """
        with self._lock:
            if self._open[caller] >= MOST_OF_A_CALLER:
                raise PeeksBusy(
                    f"{caller or 'Callers without a name'} already reads topics "
                    f"with {MOST_OF_A_CALLER} readers."
                )
            if self._open.total() >= MOST_PEEKS:
                raise PeeksBusy(f"{MOST_PEEKS} readers already read topics through this admin.")
            self._open[caller] += 1
        return partial(self._release, caller)

    def _release(self, caller: str) -> None:
        with self._lock:
            self._open[caller] -= 1
            self._open += Counter()  # drops callers without a reader

"""Measures how long instances are without a leader."""

from collections.abc import Callable, Set
from time import monotonic


class Gaps:
    """The longest time that any instance was seen without a leader.

    Each observation has the error of the pause before it.
    """

    def __init__(self, instances: Set[str], clock: Callable[[], float] = monotonic) -> None:
        self._instances = instances
        self._clock = clock
        self._unled_since_s: dict[str, float] = {}
        self._longest_s = 0.0
        self._seen: set[str] = set()

    def begin(self) -> None:
        """Forget the longest time so far."""
        self._longest_s = 0.0

    def begin_step(self) -> None:
        """Forget which instances were seen with a leader."""
        self._seen.clear()

    def observe(self, led: Set[str]) -> None:
        """Record which instances have a leader now."""
        now_s = self._clock()
        self._seen |= led
        for instance in self._instances - led:
            since_s = self._unled_since_s.setdefault(instance, now_s)
            self._longest_s = max(self._longest_s, now_s - since_s)
        for instance in led & self._unled_since_s.keys():
            self._longest_s = max(self._longest_s, now_s - self._unled_since_s.pop(instance))

    @property
    def each_was_led(self) -> bool:
        """Whether every instance was seen with a leader since `begin_step`."""
        return self._seen >= self._instances

    @property
    def longest_s(self) -> float:
        """Return the longest time since `begin`, in seconds."""
        return self._longest_s

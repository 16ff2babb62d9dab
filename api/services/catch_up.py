"""How fast a server that lacks published transactions catches up, from the relays' views."""

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

SPAN_MS: Final = 300_000
"""A rate is measured over the views of the last five minutes."""
_LEAST_MS: Final = 4_000
_MOST_SERVERS: Final = 5_000
_MOST_SAMPLES: Final = 100


class Sample(NamedTuple):
    """How many published transactions a server lacked at a time (Unix milliseconds)."""

    at_ms: int
    behind: int


@dataclass(frozen=True, slots=True)
class CatchUpRate:
    """Transactions per second by which a gap closes; negative: it grows.

    left_s  seconds until the server has everything, None if the gap does not close
    """

    per_second: float
    left_s: float | None


def rate_of(samples: list[Sample]) -> CatchUpRate | None:
    """Return the rate between the oldest and the newest sample; None if it is not known."""
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    if last.at_ms - first.at_ms < _LEAST_MS or last.behind <= 0:
        return None
    per_second = (first.behind - last.behind) * 1000 / (last.at_ms - first.at_ms)
    return CatchUpRate(per_second, last.behind / per_second if per_second > 0 else None)


class CatchUpRates:
    """Stores the readings of each server. Thread-safe."""

    def __init__(self) -> None:
        self._samples: dict[Hashable, list[Sample]] = {}
        self._lock = threading.Lock()

    def note(self, server: Hashable, sample: Sample) -> CatchUpRate | None:
        """Add a reading of a server; return its current rate.

        Readings are deleted if a server lacks nothing, or its gap is unknown.
        """
        with self._lock:
            if sample.behind <= 0:
                self._samples.pop(server, None)
                return None
            if len(self._samples) >= _MOST_SERVERS and server not in self._samples:
                self._samples.clear()
            kept = self._samples.get(server, [])
            if not kept or sample.at_ms > kept[-1].at_ms:
                kept = [each for each in kept if each.at_ms >= sample.at_ms - SPAN_MS]
                kept = self._samples[server] = [*kept[-_MOST_SAMPLES:], sample]
            return rate_of(kept)

"""Computes how fast a server that lacks published transactions receives them."""

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

SPAN_MS: Final = 300_000
"""A rate is measured over the samples of this many milliseconds."""
_LEAST_MS: Final = 4_000
_MOST_SERVERS: Final = 5_000
_MOST_SAMPLES: Final = 100


class Sample(NamedTuple):
    """A measurement of a database server's gap.

    at_ms   time of the measurement in Unix milliseconds
    behind  number of published transactions that the server did not have then
    """

    at_ms: int
    behind: int


@dataclass(frozen=True, slots=True)
class CatchUpRate:
    """The rate at which a server's gap becomes smaller.

    per_second  transactions per second; negative: the gap grows
    left_s      seconds until the server has every published transaction; None: the gap does not
                become smaller
    """

    per_second: float
    left_s: float | None


def rate_of(samples: list[Sample]) -> CatchUpRate | None:
    """Return how fast the server received missing transactions between the oldest and the newest
    sample.

    Returns None if the samples are too few or too close in time, or if the server lacks nothing.
    """
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    if last.at_ms - first.at_ms < _LEAST_MS or last.behind <= 0:
        return None
    per_second = (first.behind - last.behind) * 1000 / (last.at_ms - first.at_ms)
    return CatchUpRate(per_second, last.behind / per_second if per_second > 0 else None)


class CatchUpRates:
    """Stores the newest samples of each server. Thread-safe."""

    def __init__(self) -> None:
        self._samples: dict[Hashable, list[Sample]] = {}
        self._lock = threading.Lock()

    def note(self, server: Hashable, sample: Sample) -> CatchUpRate | None:
        """Store a sample of a server and return the server's present rate; None: the rate is
        unknown.

        All samples of the server are deleted if it lacks nothing now, or if its gap is unknown.
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

"""The rate of a counter, from two readings."""

from dataclasses import dataclass
from typing import Final

LONGEST_GAP_MS: Final = 20_000
"""Between readings that are farther apart the rate is unknown: a gap, not a mean."""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """A counter at one moment.

    at_ms  when the relay wrote it (Unix milliseconds, the relay's clock)
    rows   rows published since the relay's start
    relay  who wrote it
    """

    at_ms: int
    rows: int
    relay: str


def rows_per_second(before: Reading | None, now: Reading) -> float | None:
    """Return the rate between two readings, None if it is not known.

    A counter that fell, or that another relay wrote, started again: no rate follows from it.
    """
    if before is None or before.relay != now.relay or now.rows < before.rows:
        return None
    elapsed_ms = now.at_ms - before.at_ms
    if not 0 < elapsed_ms <= LONGEST_GAP_MS:
        return None
    return (now.rows - before.rows) * _MS / elapsed_ms

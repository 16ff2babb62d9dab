"""Computes the rate of a counter from two readings."""

from dataclasses import dataclass
from typing import Final

LONGEST_GAP_MS: Final = 20_000
"""If two readings are farther apart than this many milliseconds, the rate between them is
unknown.
"""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of a counter.

    at_ms  time when the relay wrote it (Unix milliseconds, the relay's clock)
    rows   number of rows published since the relay's start
    relay  name of the relay that wrote it
    """

    at_ms: int
    rows: int
    relay: str


def rows_per_second(before: Reading | None, now: Reading) -> float | None:
    """Return the rate between two readings; None if it is unknown.

    The rate is unknown if there is no former reading (`before` is None), if the counter decreased,
    if the readings are from different relays, and if they are too far apart.
    """
    if before is None or before.relay != now.relay or now.rows < before.rows:
        return None
    elapsed_ms = now.at_ms - before.at_ms
    if not 0 < elapsed_ms <= LONGEST_GAP_MS:
        return None
    return (now.rows - before.rows) * _MS / elapsed_ms

"""Computes how long to wait so that the rate limits are not exceeded. The functions are pure: they
get the times.
"""

from typing import Final, NamedTuple

BURST_SECONDS: Final = 1.0
"""Unused allowance is kept for this many seconds: after a pause, a source may send one second's
worth at once.
"""


class Rates(NamedTuple):
    """The allowed rows, and bytes of row events, per second; None: unlimited."""

    rows: float | None = None
    bytes: float | None = None


class Paid(NamedTuple):
    """The times at which the rows and bytes taken so far would have been taken at the allowed
    rates, in seconds of the caller's clock. No more may be taken before these times.

    rows_until_s   the time for rows
    bytes_until_s  the time for bytes
    """

    rows_until_s: float = 0.0
    bytes_until_s: float = 0.0

    def with_taken(self, rates: Rates, rows: int, size_bytes: int, now_s: float) -> "Paid":
        """Return the state after `rows` rows and `size_bytes` bytes were taken at the
        time `now_s`.
        """
        return Paid(
            _until(self.rows_until_s, rates.rows, rows, now_s),
            _until(self.bytes_until_s, rates.bytes, size_bytes, now_s),
        )

    def wait_seconds(self, rates: Rates, now_s: float) -> float:
        """Return how many seconds to wait before more may be taken, according to the stricter
        limit. `now_s` is the present time.

        A limit that `rates` no longer has does not count.
        """
        rows_s = self.rows_until_s if rates.rows is not None else now_s
        bytes_s = self.bytes_until_s if rates.bytes is not None else now_s
        return max(0.0, rows_s - now_s, bytes_s - now_s)


def _until(until_s: float, rate: float | None, taken: int, now_s: float) -> float:
    return now_s if rate is None else max(until_s, now_s - BURST_SECONDS) + taken / rate

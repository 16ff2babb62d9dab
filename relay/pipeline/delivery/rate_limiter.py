"""How long to wait so that what was taken stays within what is allowed: pure arithmetic on
times.
"""

from typing import Final, NamedTuple

BURST_SECONDS: Final = 1.0
"""What was not used of an allowance is kept for so long: a source that rests may then send a
second's worth at once.
"""


class Rates(NamedTuple):
    """Allowed rows and bytes of row events a second; None: any number."""

    rows: float | None = None
    bytes: float | None = None


class Paid(NamedTuple):
    """Up to when what was taken is paid for, on the clock of the caller, seconds: for rows and for
    bytes.
    """

    rows_until_s: float = 0.0
    bytes_until_s: float = 0.0

    def with_taken(self, rates: Rates, rows: int, size_bytes: int, now_s: float) -> "Paid":
        """So much was taken just now."""
        return Paid(
            _until(self.rows_until_s, rates.rows, rows, now_s),
            _until(self.bytes_until_s, rates.bytes, size_bytes, now_s),
        )

    def wait_seconds(self, rates: Rates, now_s: float) -> float:
        """How long nothing more may be taken, by the tighter of the two.

        A rate that was lifted holds nobody up.
        """
        rows_s = self.rows_until_s if rates.rows is not None else now_s
        bytes_s = self.bytes_until_s if rates.bytes is not None else now_s
        return max(0.0, rows_s - now_s, bytes_s - now_s)


def _until(until_s: float, rate: float | None, taken: int, now_s: float) -> float:
    return now_s if rate is None else max(until_s, now_s - BURST_SECONDS) + taken / rate

"""Limits the number of failed sign-ins by the provider from one address."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Final

from api.access.login.throttle import network_of
from api.errors import LoginPaused

BURST: Final = 10
"""Number of failed sign-ins from one address before sign-ins from it pause."""
REFILL_SECONDS: Final = 30.0
"""Seconds after which one more failed sign-in from an address is accepted beyond BURST."""
MOST_ADDRESSES: Final = 10_000


class FailureLimit:
    """Counts failed sign-ins by address, because an attempt can cause requests to the provider.

    Users behind one address share its count; a successful sign-in does not change it.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise LoginPaused if too many sign-ins from this address have failed."""
        with self._lock:
            left = self._present(network_of(address))
        if left < 1:
            seconds = int((1 - left) * REFILL_SECONDS) + 1
            raise LoginPaused(
                f"Too many sign-ins failed from this address. The next attempt is possible in "
                f"{seconds} s.",
                seconds,
            )

    def failed(self, address: str) -> None:
        """Count a failed sign-in from this address."""
        with self._lock:
            network = network_of(address)
            self._left[network] = (self._present(network) - 1, self._clock())
            self._left.move_to_end(network)
            if len(self._left) > MOST_ADDRESSES:
                self._left.popitem(last=False)

    def _present(self, network: str) -> float:
        left, since_s = self._left.get(network, (float(BURST), self._clock()))
        return min(float(BURST), left + (self._clock() - since_s) / REFILL_SECONDS)

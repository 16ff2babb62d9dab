"""Limits sign-in attempts."""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Final

from api.errors import LoginPaused
from relay.bounded_cache import BoundedCache

ATTEMPTS: Final = 5
"""So many wrong passwords for one name from one address lead to a pause."""
PAUSES_SECONDS: Final = (300, 600, 1200, 2400, 3600)
"""Length in seconds of the first pause, the second, and so on; the last one repeats."""
FORGOTTEN_SECONDS: Final = 86_400
"""After this many seconds without an attempt, the count of a name and address starts again."""
MOST_PAIRS: Final = 10_000
"""Largest number of counts of a name and an address; the oldest are dropped.

BURST and REFILL_SECONDS limit the total rate, so an attacker needs hours to replace all counts.
"""
BURST: Final = 60
"""Number of wrong passwords from all callers together, for all names, before sign-ins pause."""
REFILL_SECONDS: Final = 2.0
"""Seconds after which one more wrong password is accepted beyond BURST."""
_IPV6_NETWORK_BITS: Final = 64
_NAME_CHARACTERS: Final = 100


@dataclass(slots=True)
class _Count:
    """Wrong passwords for one name from one address. Times are monotonic seconds.

    wrong      since the last pause
    pauses     number of pauses
    until_s    the end of the pause
    touched_s  last attempt
    """

    touched_s: float
    wrong: int = 0
    pauses: int = 0
    until_s: float = 0.0


class LoginThrottle:
    """Counts attempts by name and address, and wrong passwords in total. The pauses apply to one
    name from one address, so that an attacker cannot lock a user out. While the total limit is
    reached, a user can still sign in from an address used before.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._counts: BoundedCache[tuple[str, str], _Count] = BoundedCache(MOST_PAIRS)
        self._known: BoundedCache[tuple[str, str], bool] = BoundedCache(MOST_PAIRS)
        self._left = float(BURST)
        self._refilled_s = clock()

    def begin(self, name: str, address: str) -> None:
        """Count an attempt as a wrong password, until `succeeded` is called for it.

        Parallel attempts are counted before the first password is verified.

        Raises LoginPaused.
        """
        pair, now = _pair(name, address), self._clock()
        with self._lock:
            count = self._count(pair, now)
            if now < count.until_s:
                raise _paused(count.until_s - now)
            self._refill(now)
            if self._left < 1 and pair not in self._known:
                raise LoginPaused(
                    "Too many wrong passwords were sent to this admin.", int(REFILL_SECONDS) + 1
                )
            self._left = max(0.0, self._left - 1)
            self._keep(pair, count)
            count.wrong += 1
            if count.wrong >= ATTEMPTS:
                count.until_s = now + PAUSES_SECONDS[min(count.pauses, len(PAUSES_SECONDS) - 1)]
                count.pauses, count.wrong = count.pauses + 1, 0

    def failed(self, name: str, address: str) -> str:
        """Return a sentence about the consequence of a wrong password.

        The sentence names the length of the pause that has begun, or the attempts left before a
        pause.
        """
        now = self._clock()
        with self._lock:
            count = self._count(_pair(name, address), now)
            if now < count.until_s:
                return _paused(count.until_s - now).reason
            left = ATTEMPTS - count.wrong
            pause = PAUSES_SECONDS[min(count.pauses, len(PAUSES_SECONDS) - 1)] // 60
        attempts = f"{left} attempts are" if left > 1 else "1 attempt is"
        return f"{attempts} left before a pause of {pause} minutes."

    def succeeded(self, name: str, address: str) -> None:
        """Reset the count of wrong passwords for this name and address after a successful
        sign-in.
        """
        pair = _pair(name, address)
        with self._lock:
            self._counts.pop(pair)
            self._left = min(float(BURST), self._left + 1)
            self._known.put(pair, True)

    def _count(self, pair: tuple[str, str], now: float) -> _Count:
        found = self._counts.get(pair)
        if found is None or now - found.touched_s > FORGOTTEN_SECONDS:
            return _Count(now)
        return found

    def _keep(self, pair: tuple[str, str], count: _Count) -> None:
        count.touched_s = self._clock()
        self._counts.put(pair, count)

    def _refill(self, now: float) -> None:
        self._left = min(float(BURST), self._left + (now - self._refilled_s) / REFILL_SECONDS)
        self._refilled_s = now


def network_of(address: str) -> str:
    """Return the address or network by which a client's attempts are counted.

    That is an IPv4 address itself, and the /64 network of an IPv6 address, because an IPv6 client
    has a whole network. Returns a text that is not an IP address unchanged.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address) or found.ipv4_mapped is not None:
        return str(getattr(found, "ipv4_mapped", found))
    return str(ipaddress.IPv6Network((int(found), _IPV6_NETWORK_BITS), strict=False))


def _pair(name: str, address: str) -> tuple[str, str]:
    return name[:_NAME_CHARACTERS], network_of(address)


def _paused(seconds: float) -> LoginPaused:
    minutes = int(seconds // 60) + 1
    return LoginPaused(
        f"Too many wrong passwords for this name. The next attempt is possible in {minutes} "
        f"minute{'s' if minutes > 1 else ''}.",
        int(seconds) + 1,
    )

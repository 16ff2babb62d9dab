"""The plan as one relay knows it now, and how long it has stood: what a member's elections look at."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final

from relay.ha.placement import Seat

UNCLAIMED_SECONDS: Final = 3.0
"""An instance that nobody leads for so long is anybody's: the one that should take it cannot."""
KEPT_SECONDS: Final = 600.0
"""Who had to take an instance back that it gave away keeps it for so long, or the two would go on like that."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A seat and the monotonic second since which it stands like that."""

    seat: Seat
    since_s: float


def may_take(standing: Standing, member: str, now_s: float) -> bool:
    """Whether a member may try to lead: it should, or who should has left the instance alone for too long.

    Who is said to lead already may as well: its node stands, after a try or a resignation that was not answered.
    """
    seat = standing.seat
    if member in (seat.wanted, seat.leader):
        return True
    return seat.leader is None and now_s - standing.since_s >= UNCLAIMED_SECONDS


def gives_way(standing: Standing, member: str, now_s: float, patience_s: float) -> bool:
    """Whether a leader should hand over: at once for an operator, else when the wish has stood for `patience_s`.

    Relays that come and go faster than that move nothing.
    """
    seat = standing.seat
    if seat.leader != member or seat.wanted == member:
        return False
    return seat.urgent or now_s - standing.since_s >= patience_s


class Seats:
    """One thread renews them, elections read them; without a plan (ZooKeeper away) nobody gives way and nobody takes."""

    def __init__(self, member: str, rebalance_seconds: float) -> None:
        self._member = member
        self._patience_s = rebalance_seconds
        self._standings: Mapping[str, Standing] = {}
        self._kept_until_s: dict[str, float] = {}
        self._signals: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def renew(self, plan: Mapping[str, Seat]) -> None:
        """Take over a new plan, an empty one where nothing is known, and wake who waits."""
        now_s, before = monotonic(), self._standings
        self._standings = {
            instance: known if (known := before.get(instance)) is not None and known.seat == seat else Standing(seat, now_s)
            for instance, seat in plan.items()
        }
        with self._lock:
            signals = tuple(self._signals)
        for signal in signals:
            signal()

    def on_change(self, signal: Callable[[], None]) -> None:
        """Call `signal` after every renewal."""
        with self._lock:
            self._signals.append(signal)

    def forget(self, signal: Callable[[], None]) -> None:
        """Call it no more."""
        with self._lock:
            self._signals = [each for each in self._signals if each != signal]

    def seat(self, instance: str) -> Seat | None:
        """Who leads and who should, as far as it is known."""
        standing = self._standings.get(instance)
        return None if standing is None else standing.seat

    def may_take(self, instance: str) -> bool:
        """Whether this member may try to lead."""
        standing = self._standings.get(instance)
        return standing is not None and may_take(standing, self._member, monotonic())

    def taken(self, instance: str) -> None:
        """This member leads now; if another one should have, it does not offer the instance again soon."""
        standing = self._standings.get(instance)
        if standing is not None and standing.seat.wanted != self._member:
            self._kept_until_s[instance] = monotonic() + KEPT_SECONDS

    def gives_way(self, instance: str) -> Seat | None:
        """The seat, if this member leads and should hand over now."""
        standing = self._standings.get(instance)
        if standing is None or standing.seat.wanted == self._member:
            return None
        now_s = monotonic()
        if not standing.seat.urgent and now_s < self._kept_until_s.get(instance, 0.0):
            return None
        return standing.seat if gives_way(standing, self._member, now_s, self._patience_s) else None

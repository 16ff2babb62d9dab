"""The current plan of one relay: which relay should run which instance, and since when."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final

from relay.ha.placement import Assignment

UNCLAIMED_SECONDS: Final = 3.0
"""After this number of seconds without a leader, any relay may take an instance: the assigned relay
is presumed unable.
"""
KEPT_SECONDS: Final = 600.0
"""Cool-down after a failed hand-over, in seconds. It prevents two relays from handing an instance
back and forth.
"""


@dataclass(frozen=True, slots=True)
class AssignmentAge:
    """An assignment, and the time of the monotonic clock (seconds) at which it entered the plan."""

    assignment: Assignment
    since_s: float


def may_take(age: AssignmentAge, member: str, now_s: float) -> bool:
    """Return whether a relay may try to become the leader.

    member  name of the relay
    now_s   present time of the monotonic clock, in seconds

    It may if it is assigned, or if the assigned relay has left the instance without a leader for
    UNCLAIMED_SECONDS. It may also if the plan names it as the leader: after an attempt or a
    resignation that ZooKeeper did not answer, its election node may still exist.
    """
    assignment = age.assignment
    if member in (assignment.wanted, assignment.leader):
        return True
    return assignment.leader is None and now_s - age.since_s >= UNCLAIMED_SECONDS


def gives_way(age: AssignmentAge, member: str, now_s: float, patience_s: float) -> bool:
    """Return whether the leader `member` should hand the instance over to the assigned relay.

    After an operator's order: immediately. Otherwise when the assignment is `patience_s` seconds
    old, so that relays that join and leave within that time move no instance.
    """
    assignment = age.assignment
    if assignment.leader != member or assignment.wanted == member:
        return False
    return assignment.urgent or now_s - age.since_s >= patience_s


class AssignmentTable:
    """The assignments: one thread renews them, elections read them.

    Without a plan (ZooKeeper cannot be reached) no relay takes an instance and none hands one over.
    """

    def __init__(self, member: str, rebalance_seconds: float) -> None:
        self._member = member
        self._patience_s = rebalance_seconds
        self._ages: Mapping[str, AssignmentAge] = {}
        self._kept_until_s: dict[str, float] = {}
        self._signals: dict[str, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def renew(self, plan: Mapping[str, Assignment]) -> None:
        """Store a new plan, empty if it is unknown.

        Call the signals of instances whose assignment changed or ended. Also call the signals of
        instances without a leader, because after some time any member may take such an instance.
        """
        now_s, before = monotonic(), self._ages
        self._ages = {
            instance: known
            if (known := before.get(instance)) is not None and known.assignment == assignment
            else AssignmentAge(assignment, now_s)
            for instance, assignment in plan.items()
        }
        affected = [
            instance
            for instance, age in self._ages.items()
            if age is not before.get(instance) or age.assignment.leader is None
        ]
        with self._lock:
            signals = [
                signal
                for instance in (*affected, *(before.keys() - self._ages.keys()))
                for signal in self._signals.get(instance, ())
            ]
        for signal in signals:
            signal()

    def on_change(self, instance: str, signal: Callable[[], None]) -> None:
        """Register `signal` to be called after every renewal that affects the instance."""
        with self._lock:
            self._signals.setdefault(instance, []).append(signal)

    def forget(self, instance: str, signal: Callable[[], None]) -> None:
        """Stop calling `signal` for the instance."""
        with self._lock:
            rest = [each for each in self._signals.get(instance, ()) if each != signal]
            self._signals[instance] = rest
            if not rest:
                del self._signals[instance]

    def assignment(self, instance: str) -> Assignment | None:
        """Return the leading and the assigned relay of an instance; None if the plan does not
        contain it.
        """
        age = self._ages.get(instance)
        return None if age is None else age.assignment

    def may_take(self, instance: str) -> bool:
        """Return whether this relay may try to lead the instance."""
        age = self._ages.get(instance)
        return age is not None and may_take(age, self._member, monotonic())

    def taken(self, instance: str, tried_by: Assignment | None) -> None:
        """Record that this member now leads the instance.

        `tried_by` is the assignment by which it tried to. If that assignment does not name it,
        start the cool-down of `KEPT_SECONDS`. Until the cool-down ends, only an urgent assignment
        (an operator's order) causes a hand-over. A plan that changed after the attempt, because
        relays started at the same time, does not start the cool-down.
        """
        if tried_by is not None and tried_by.wanted != self._member:
            self._kept_until_s[instance] = monotonic() + KEPT_SECONDS

    def gives_way(self, instance: str) -> Assignment | None:
        """Return the assignment if this relay leads the instance and should hand it over now;
        otherwise None.
        """
        age = self._ages.get(instance)
        if age is None or age.assignment.wanted == self._member:
            return None
        now_s = monotonic()
        if not age.assignment.urgent and now_s < self._kept_until_s.get(instance, 0.0):
            return None
        return age.assignment if gives_way(age, self._member, now_s, self._patience_s) else None

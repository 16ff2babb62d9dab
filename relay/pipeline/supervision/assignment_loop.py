"""The thread that registers this relay in ZooKeeper, and computes which relay should lead which
instance.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final, TypeAlias

import structlog

from relay.errors import RelayError
from relay.ha import Assignment, AssignmentTable, ClusterView, Member, assign
from relay.state import Membership, PlacementOverrides, PlacementStore, RelayMember
from relay.threads import Guard, RelayThread

_POLL_SECONDS: Final = 1.0
"""Poll interval in seconds: joining and leaving relays are signalled, changed abilities of a
standby are polled.
"""
_BETWEEN_POLLS_SECONDS: Final = 0.1
"""Changes within this time are answered by one poll: many leaders change when a relay ends."""
_SHARE_OF_TIME: Final = 0.1
"""Largest share of the time that polls take while changes continue. Each reads the leaders again
and plans, on the core that rows need too (ADR 93).
"""
_SIBLINGS_SECONDS: Final = 3.0
"""For so long a worker waits for the others of its program before it takes instances."""

_PlanInput: TypeAlias = "tuple[tuple[RelayMember, ...], Mapping[str, str], PlacementOverrides]"

_log = structlog.stdlib.get_logger(__name__)


class AssignmentLoop:
    """Registers this relay and computes the assignments, every one or two seconds and after each
    change in ZooKeeper.
    """

    def __init__(
        self,
        membership: Membership,
        overrides: PlacementStore,
        assignments: AssignmentTable,
        own: Callable[[], RelayMember],
        workers: int = 1,
    ) -> None:
        """`own` describes this relay as it is now. `workers` is how many workers its program has,
        including this one.
        """
        self._membership = membership
        self._overrides = overrides
        self._assignments = assignments
        self._own = own
        self._siblings = Siblings(workers)
        self._plan = LastPlan()
        self._changed = threading.Event()
        self._leaving = threading.Event()
        self._ended = threading.Event()
        self._thread = RelayThread("placement", "", self._run)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def poll_now(self) -> None:
        """Compute the assignments at once instead of at the next poll."""
        self._changed.set()

    def leave(self) -> None:
        """Remove this relay from the list of relays, so that others take over its instances when it
        releases them.
        """
        self._leaving.set()
        self._changed.set()

    def stop(self, timeout_s: float) -> None:
        """Ask the thread to end, and wait up to `timeout_s` seconds for it."""
        self._ended.set()
        self._changed.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        watches = (
            *self._membership.watch(self._changed.set),
            self._overrides.watch(self._changed.set),
        )
        guard = Guard("placement")
        while not self._ended.is_set():
            self._changed.clear()
            began_s = monotonic()
            with guard:
                try:
                    for watch in watches:
                        watch.renew()
                    self._poll()
                except RelayError as exc:
                    self._assignments.renew({})
                    _log.warning("placement_not_read", reason=exc.reason)
            if guard.error is not None:
                self._assignments.renew({})
            self._ended.wait(max(guard.pause_s, rest_seconds(monotonic() - began_s)))
            self._changed.wait(_POLL_SECONDS)
        for watch in watches:
            watch.cancel()

    def _poll(self) -> None:
        own = self._own()
        if self._leaving.is_set():
            self._membership.withdraw(own.name)
        else:
            self._membership.announce(own)
        members = self._membership.members()
        if not self._siblings.are_there(own, members):
            self._assignments.renew({})
            return
        leaders, overrides = self._membership.leaders(), self._overrides.overrides()
        self._assignments.renew(self._plan.of(members, leaders, overrides))


def rest_seconds(took_s: float) -> float:
    """Return the pause in seconds after a poll that took `took_s` seconds.

    The pause is nine times as long as the poll, so that polls take a tenth of the time; but at
    least 0.1 seconds, and at most one second.
    """
    return min(_POLL_SECONDS, max(_BETWEEN_POLLS_SECONDS, took_s / _SHARE_OF_TIME - took_s))


class LastPlan:
    """Computes the assignments, and caches the last result as long as its input does not change."""

    def __init__(self) -> None:
        self._input: _PlanInput | None = None
        self._plan: Mapping[str, Assignment] = {}

    def of(
        self,
        members: tuple[RelayMember, ...],
        leaders: Mapping[str, str],
        overrides: PlacementOverrides,
    ) -> Mapping[str, Assignment]:
        """Return the assignment of each instance, from the relays, the present leaders and the
        operators' overrides.
        """
        given = (members, leaders, overrides)
        if given != self._input:
            self._plan, self._input = assign(cluster_view(*given)), given
        return self._plan


class Siblings:
    """Waits until all workers of one program have registered, so that the first plan spreads the
    instances over them.

    Without this wait, the first worker would take all instances and hand most of them over again.
    After 3 seconds the missing workers are ignored.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._waits_until_s: float | None = None
        self._are_there = workers == 1

    def are_there(self, own: RelayMember, members: Sequence[RelayMember]) -> bool:
        """Return whether this relay (`own`) may use a plan: all workers of its program are in
        `members`, or the wait is over.

        Once True, it stays True.
        """
        if not self._are_there:
            if self._waits_until_s is None:
                self._waits_until_s = monotonic() + _SIBLINGS_SECONDS
            present = sum(each.program == own.program for each in members)
            self._are_there = present >= self._workers or monotonic() >= self._waits_until_s
        return self._are_there


def cluster_view(
    members: tuple[RelayMember, ...], leaders: Mapping[str, str], overrides: PlacementOverrides
) -> ClusterView:
    """Return the input of the placement decision.

    members    the relays
    leaders    instance → the relay that leads it now
    overrides  the operators' overrides

    If the configuration files of the relays name different preferred servers for an instance, the
    file of the relay that started last is used.
    """
    preferred = {
        each.instance: each.preferred
        for member in sorted(members, key=_age)
        for each in member.candidacies
    }
    return ClusterView(
        members=tuple(_member(each) for each in members),
        leaders=leaders,
        preferred=preferred,
        moves={instance: override.to for instance, override in overrides.moves.items()},
        maintenance=frozenset(overrides.maintenance),
    )


def _age(member: RelayMember) -> tuple[int, str]:
    return member.started_ms, member.name


def _member(member: RelayMember) -> Member:
    unready = frozenset(each.instance for each in member.candidacies if each.code)
    return Member(member.name, member.server, frozenset(member.instances), unready)

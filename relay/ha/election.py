"""One leader for each instance: the relay whose session owns the instance's ephemeral node.

The placement decides which relay should try; the node lets exactly one succeed. Leadership decides
only which relay tries to publish: Kafka's fence decides which one can.
"""

import json
import threading
from contextlib import ExitStack, suppress
from time import time

from relay.errors import NodeMissing, StoreUnreachable, VersionConflict
from relay.ha.assignments import AssignmentTable
from relay.ha.placement import Assignment
from relay.zk import Session, SessionState


class Election:
    """One relay's participation in the election of one instance.

    One thread uses it; watches only wake this thread. Without `assignments` the relay is the only
    one and takes the instance whenever it has no leader.
    """

    def __init__(
        self,
        session: Session,
        path: str,
        member: str,
        instance: str = "",
        assignments: AssignmentTable | None = None,
    ) -> None:
        self.member = member
        self._session = session
        self._path = path
        self._instance = instance
        self._assignments = assignments
        self._since_ms: int | None = None
        self._held_in: int | None = None
        self._has_resigned = False
        self._changed = threading.Event()

    def wait_until_leading(self, stop: threading.Event, timeout_s: float) -> bool:
        """Try to lead. If that fails, wait for a change of the leaders or the plan, for `wake` or
        for the timeout, and try again. Return whether this relay leads; False if `stop` is set.

        Raises StoreUnreachable.
        """
        self._changed.clear()
        with ExitStack() as stack:
            self._listen(stack)
            if self._take():
                return True
            if not stop.is_set():
                self._changed.wait(timeout_s)
            return not stop.is_set() and self._take()

    def _listen(self, stack: ExitStack) -> None:
        """Wake the waiting thread after changes, until the stack is closed.

        The plan shows every change of a leader. Only a relay that may take the instance watches the
        node itself: fifty relays with a thousand instances would otherwise set 50,000 watches a
        second.
        """
        assignments = self._assignments
        if assignments is not None:
            assignments.on_change(self._instance, self._changed.set)
            stack.callback(assignments.forget, self._instance, self._changed.set)
        if assignments is None or assignments.may_take(self._instance):
            stack.callback(self._session.watch(self._path, self._changed.set).cancel)

    def wake(self) -> None:
        """End a wait in `wait_until_leading`. Thread-safe."""
        self._changed.set()

    def leads(self, *, for_certain: bool = False) -> bool:
        """Return whether this relay leads, by the events that the session has received so far.

        Returns False after the session was lost. While the connection is suspended it returns True,
        or False with `for_certain`.
        """
        if self._held_in != self._session.sessions or self._session.state is SessionState.LOST:
            return False
        return self._session.connected or not for_certain

    @property
    def leading_since_ms(self) -> int | None:
        """Time at which this relay became leader, in Unix milliseconds; None if it does not
        lead.
        """
        return self._since_ms if self.leads() else None

    @property
    def undecided(self) -> bool:
        """Return whether the connection is lost, but for less than the session timeout.

        It is then unknown whether the session and the leadership still exist.
        """
        return (
            not self._session.connected and self._session.silent_s * 1000 < self._session.timeout_ms
        )

    def leads_synced(self) -> bool:
        """Return whether this relay leads, by ZooKeeper's current state. Raises
        StoreUnreachable.
        """
        return self._held_in is not None and self._session.owns(self._path)

    def is_confirmed(self) -> bool:
        """Return whether ZooKeeper answers now that this relay leads.

        False without an answer: leadership is then unproven.
        """
        try:
            return self.leads(for_certain=True) and self.leads_synced()
        except StoreUnreachable:
            return False

    def gives_way(self) -> Assignment | None:
        """Return the assignment if this relay must hand over to another one; otherwise None."""
        return (
            self._assignments.gives_way(self._instance) if self._assignments is not None else None
        )

    def resign(self) -> None:
        """Stop leading: delete the node if this session owns it. Raises StoreUnreachable."""
        held, self._held_in = self._held_in, None
        if held == self._session.sessions and self._session.owns(self._path):
            with suppress(NodeMissing):
                self._session.delete(self._path)
        self._has_resigned = True

    def leader(self) -> str | None:
        """Return the name of the leading relay; None if no relay leads."""
        found = self._session.find(self._path, synced=True)
        return None if found is None else str(json.loads(found.value)["relay"])

    def _take(self) -> bool:
        """Create the node if it does not exist and this relay may lead. Return whether this session
        owns it.

        A node that an unanswered attempt of this session created counts as owned.
        """
        assignments = self._assignments
        tried_by = None if assignments is None else assignments.assignment(self._instance)
        if assignments is not None and (
            self._is_before_resignation(tried_by) or not assignments.may_take(self._instance)
        ):
            if not self._session.connected:
                raise self._session.unreachable()
            return False
        sessions = self._session.sessions
        won = (
            self._session.owns(self._path)
            if self._session.exists(self._path, synced=True)
            else self._make()
        )
        self._held_in = sessions if won else None
        self._since_ms = int(time() * 1000) if won else None
        self._has_resigned &= not won
        if won and assignments is not None:
            assignments.taken(self._instance, tried_by)
        return won

    def _is_before_resignation(self, assignment: Assignment | None) -> bool:
        """Return whether this relay has handed over, but the plan still shows it as leader.

        This check prevents the relay from taking the instance again before the assigned relay does.
        """
        return (
            self._has_resigned
            and assignment is not None
            and assignment.leader == self.member
            and assignment.wanted != self.member
        )

    def _make(self) -> bool:
        try:
            self._session.create_ephemeral(self._path, json.dumps({"relay": self.member}).encode())
        except VersionConflict:
            return self._session.owns(self._path)
        return True

"""One leader for each instance: the relay whose session owns the instance's ephemeral node.

The placement decides which relay should try; the node lets exactly one succeed. Leading decides
only which relay tries to publish: Kafka's fence decides which one can.
"""

import json
import threading
from contextlib import ExitStack, suppress
from time import time

from relay.errors import NodeMissing, VersionConflict
from relay.ha.assignments import AssignmentTable
from relay.ha.placement import Assignment
from relay.zk import Session, SessionState


class Election:
    """One relay's part in who leads one instance. One thread uses it; watches only wake it.

    Without `assignments` the relay is the only one and takes the instance whenever it has no
    leader.
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
        self.leading_since_ms: int | None = None
        """When this relay became leader, in Unix milliseconds; None: it does not lead, or found
        out that it leads no more.
        """
        self._held_in: int | None = None
        self._has_resigned = False
        self._changed = threading.Event()

    def wait_until_leading(self, stop: threading.Event, timeout_s: float) -> bool:
        """Wait until this relay leads, `stop` is set or the time is over; True when it leads.

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
        """Be woken by changes until the stack is closed.

        The plan names every change of a leader. The node itself is watched only by a relay that
        may take it: fifty relays with a thousand instances would ask for 50,000 watches a second.
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
        """Return whether this relay leads, from what the session has received so far.

        False once the session was lost. While the connection is suspended: True, unless
        `for_certain` is set.
        """
        if self._held_in != self._session.sessions or self._session.state is SessionState.LOST:
            return False
        return self._session.connected or not for_certain

    @property
    def undecided(self) -> bool:
        """Return whether the connection has been lost for less than the session's timeout.

        The session, and the leadership with it, may then survive or not.
        """
        return (
            not self._session.connected and self._session.silent_s * 1000 < self._session.timeout_ms
        )

    def leads_synced(self) -> bool:
        """Return whether this relay leads, by ZooKeeper's current state. Raises
        StoreUnreachable.
        """
        return self._held_in is not None and self._session.owns(self._path)

    def gives_way(self) -> Assignment | None:
        """Return the assignment if another relay should lead and this one has to hand over; else
        None.
        """
        return (
            self._assignments.gives_way(self._instance) if self._assignments is not None else None
        )

    def resign(self) -> None:
        """Stop leading: delete the node if this session owns it. Raises StoreUnreachable."""
        held, self._held_in = self._held_in, None
        self.leading_since_ms = None
        if held == self._session.sessions and self._session.owns(self._path):
            with suppress(NodeMissing):
                self._session.delete(self._path)
        self._has_resigned = True

    def leader(self) -> str | None:
        """Return the name of the relay that leads, None when none does."""
        found = self._session.find(self._path, synced=True)
        return None if found is None else str(json.loads(found.value)["relay"])

    def _take(self) -> bool:
        """Create the node if this relay may and it does not exist. Return whether this session owns
        it.

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
        self.leading_since_ms = int(time() * 1000) if won else None
        self._has_resigned &= not won
        if won and assignments is not None:
            assignments.taken(self._instance, tried_by)
        return won

    def _is_before_resignation(self, assignment: Assignment | None) -> bool:
        """Return whether the plan still shows this relay as the leader that should hand over, after
        it has done so.

        Otherwise it would take the instance again before the relay that should, and keep it.
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

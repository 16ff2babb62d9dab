"""One leader per instance: the relay whose session holds the instance's ephemeral node.

Who should try is the placement's to say; the node makes sure that one succeeds. Leading only
decides who tries to publish: Kafka's fence decides who may.
"""

import json
import threading
from contextlib import suppress

from relay.errors import NodeMissing, VersionConflict
from relay.ha.assignments import AssignmentTable
from relay.ha.placement import Assignment
from relay.zk import Session, SessionState


class Election:
    """One relay's part in who leads one instance. One thread uses it; watches only wake it.

    Without `assignments` the relay stands alone and takes the instance whenever it is free.
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
        self._held_in: int | None = None
        self._changed = threading.Event()

    def wait_until_leading(self, stop: threading.Event, timeout_s: float) -> bool:
        """Wait until this relay leads, `stop` is set or the time is over; True when it leads.

        Raises StoreUnreachable.
        """
        self._changed.clear()
        watch = self._session.watch(self._path, self._changed.set)
        if self._assignments is not None:
            self._assignments.on_change(self._changed.set)
        try:
            if self._take():
                return True
            if not stop.is_set():
                self._changed.wait(timeout_s)
            return not stop.is_set() and self._take()
        finally:
            watch.cancel()
            if self._assignments is not None:
                self._assignments.forget(self._changed.set)

    def wake(self) -> None:
        """End a wait."""
        self._changed.set()

    def leads(self, *, for_certain: bool = False) -> bool:
        """A look at what is known here: false once the session was lost.

        A suspended connection goes on, unless it must be certain.
        """
        if self._held_in != self._session.sessions or self._session.state is SessionState.LOST:
            return False
        return self._session.connected or not for_certain

    @property
    def undecided(self) -> bool:
        """Whether the connection is lost for less than the session's timeout: it may come back with
        the session, or without.
        """
        return (
            not self._session.connected and self._session.silent_s * 1000 < self._session.timeout_ms
        )

    def leads_synced(self) -> bool:
        """Ask ZooKeeper, not older than this moment. Raises StoreUnreachable."""
        return self._held_in is not None and self._session.owns(self._path)

    def gives_way(self) -> Assignment | None:
        """The assignment, when another relay should lead and this one hands over."""
        return (
            self._assignments.gives_way(self._instance) if self._assignments is not None else None
        )

    def resign(self) -> None:
        """Let the instance go, if it is this session's. Raises StoreUnreachable."""
        held, self._held_in = self._held_in, None
        if held == self._session.sessions and self._session.owns(self._path):
            with suppress(NodeMissing):
                self._session.delete(self._path)

    def leader(self) -> str | None:
        """The name of the relay that leads, None when none does."""
        found = self._session.find(self._path, synced=True)
        return None if found is None else str(json.loads(found.value)["relay"])

    def _take(self) -> bool:
        """Make the node if this relay may and it is not there.

        One that an unanswered attempt of this session made counts.
        """
        if self._assignments is not None and not self._assignments.may_take(self._instance):
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
        if won and self._assignments is not None:
            self._assignments.taken(self._instance)
        return won

    def _make(self) -> bool:
        try:
            self._session.create_ephemeral(self._path, json.dumps({"relay": self.member}).encode())
        except VersionConflict:
            return self._session.owns(self._path)
        return True

"""One leader per instance: the member whose ephemeral node has stood longest (ZooKeeper recipes, "Leader Election").

Leading only decides who tries; Kafka's fence decides who may.
"""

import json
import threading
from contextlib import suppress

from relay.errors import NodeMissing
from relay.ha.decision import who_leads
from relay.zk import Session, SessionState

_PREFIX = "candidate-"


class Election:
    """The candidacy of one member for one instance. One thread uses it; watches only wake it."""

    def __init__(self, session: Session, path: str, member: str) -> None:
        self._session = session
        self._path = path
        self._member = member
        self._node: str | None = None
        self._joined_in = 0
        self._changed = threading.Event()

    def join(self) -> None:
        """Stand as a candidate, unless this session does already. Raises StoreUnreachable."""
        if self._node is not None and self._session.owns(self._node):
            return
        self._session.ensure(self._path)
        value = json.dumps({"member": self._member}).encode()
        self._node = self._own_node() or self._session.create_ephemeral_sequential(f"{self._path}/{_PREFIX}", value)
        self._joined_in = self._session.sessions

    def wait_until_leading(self, stop: threading.Event, timeout_s: float) -> bool:
        """Wait until this member leads, `stop` is set or the time is over; True when it leads.

        Raises StoreUnreachable, and joins again when the session's nodes are gone.
        """
        self._changed.clear()
        watch = self._session.watch_children(self._path, self._changed.set)
        try:
            self.join()
            if self.leads_synced():
                return True
            if not stop.is_set():
                self._changed.wait(timeout_s)
            return self.leads_synced()
        finally:
            watch.cancel()

    def leads(self) -> bool:
        """A look at what is known here: false once the session was lost. A suspended connection goes on."""
        return self._node is not None and self._session.sessions == self._joined_in and self._session.state is not SessionState.LOST

    def leads_synced(self) -> bool:
        """Ask ZooKeeper, not older than this moment. Raises StoreUnreachable."""
        return self._node is not None and self._leading_node() == self._node

    def resign(self) -> None:
        """Take the candidacy back."""
        node, self._node = self._node, None
        if node is not None:
            with suppress(NodeMissing):
                self._session.delete(node)

    def leader(self) -> str | None:
        """The name of the member that leads, None when nobody stands."""
        node = self._leading_node()
        found = self._session.find(node) if node is not None else None
        return None if found is None else str(json.loads(found.value)["member"])

    def _own_node(self) -> str | None:
        """A node that an earlier, unanswered join made after all; a second one beside it would keep this member from ever leading."""
        for name in self._session.children(self._path, synced=True):
            node = self._session.find(f"{self._path}/{name}")
            if node is not None and node.ephemeral_owner == self._session.id and json.loads(node.value)["member"] == self._member:
                return f"{self._path}/{name}"
        return None

    def _leading_node(self) -> str | None:
        try:
            first = who_leads(self._session.children(self._path, synced=True))
        except NodeMissing:
            return None
        return None if first is None else f"{self._path}/{first}"

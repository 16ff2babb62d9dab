"""The mapping set that rows are published under, renewed between two source transactions."""

import threading

from relay.errors import MappingLost, MappingRefused, StoreUnreachable
from relay.route import MappingSet, Router
from relay.settings import RoutingSettings
from relay.state import MappingStore, StoredSet


class MappingInForce:
    """Keeps the last good set; `problem` says why a newer one is not in force.

    `changed` is set by whoever watches the pointer.
    """

    def __init__(self, store: MappingStore, routing: RoutingSettings, changed: threading.Event) -> None:
        self.problem = ""
        self.router = Router(MappingSet.empty(), routing)
        self._store = store
        self._routing = routing
        self._changed = changed

    @property
    def number(self) -> int:
        return self.router.mapping.number

    def begin(self, number: int | None, published_under: int) -> None:
        """Put the current set in force, or the older one that a half-published transaction began under.

        `published_under` is the set of the last committed rows, 0 where that is not known. While ZooKeeper is away the set that this
        relay has goes on. Raises MappingRefused, MappingLost, NodeMissing, StoreUnreachable.
        """
        try:
            self.load(number, published_under)
        except StoreUnreachable:
            if not self.number or number not in (None, self.number):
                raise
            self._changed.set()

    def load(self, number: int | None = None, published_under: int = 0) -> None:
        """Put the current set, or an older one, in force. Raises MappingRefused, MappingLost, NodeMissing, StoreUnreachable."""
        self._changed.clear()
        stored = self._store.current() if number is None else self._store.load(number)
        last = max(self.number, published_under)
        if not stored.number and last:
            raise MappingLost(f"Rows were published under mapping set {last}, and ZooKeeper has no mapping at all.")
        self._use(stored)

    def look(self) -> None:
        """See that the current set can be had and compiled, and leave the one in force. Raises MappingRefused, StoreUnreachable."""
        stored = self._store.current()
        MappingSet.compile(stored.number, dict(stored.bodies))

    def renew(self) -> bool:
        """Take over a newer set if there is one; True when names may have changed."""
        if not self._changed.is_set():
            return False
        before = self.router
        try:
            self.load()
        except (MappingRefused, MappingLost) as exc:
            self.problem = str(exc)
        except StoreUnreachable:
            self._changed.set()
        return self.router is not before

    def _use(self, stored: StoredSet) -> None:
        self.router = Router(MappingSet.compile(stored.number, dict(stored.bodies)), self._routing)
        self.problem = ""

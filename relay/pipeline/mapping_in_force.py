"""The mapping set that rows are published under, renewed between two source transactions."""

import threading

from relay.errors import MappingRefused, StoreUnreachable
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

    def load(self, number: int | None = None) -> None:
        """Put the current set, or an older one, in force. Raises MappingRefused, NodeMissing, StoreUnreachable."""
        self._changed.clear()
        self._use(self._store.current() if number is None else self._store.load(number))

    def renew(self) -> bool:
        """Take over a newer set if there is one; True when names may have changed."""
        if not self._changed.is_set():
            return False
        before = self.router
        try:
            self.load()
        except MappingRefused as exc:
            self.problem = str(exc)
        except StoreUnreachable:
            self._changed.set()
        return self.router is not before

    def _use(self, stored: StoredSet) -> None:
        self.router = Router(MappingSet.compile(stored.number, dict(stored.bodies)), self._routing)
        self.problem = ""

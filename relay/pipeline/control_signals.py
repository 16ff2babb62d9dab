"""Detects that an operator changed an instance's position or ordered to skip a transaction."""

import threading

from relay.errors import StoreUnreachable
from relay.state import InstanceStore
from relay.zk import Watch


class ControlSignals:
    """Reports whether an operator called the instance since `acknowledge`.

    A call is a signal in ZooKeeper that the leader must read its position again. ZooKeeper's watch
    also fires at every reconnection, so the number of calls is compared.
    """

    def __init__(self, store: InstanceStore, instance: str) -> None:
        self._store = store
        self._instance = instance
        self._signal = threading.Event()
        self._watch: Watch | None = None
        self._answered: int | None = None

    def watch(self) -> None:
        """Begin to watch the ZooKeeper node that counts operators' calls to the instance."""
        self._watch = self._store.watch_calls(self._instance, self._signal)

    def acknowledge(self) -> None:
        """Record that all calls so far are answered.

        If ZooKeeper does not answer, the next signal counts as a call.
        """
        self._signal.clear()
        try:
            self._answered = self._store.calls(self._instance)
        except StoreUnreachable:
            self._answered = None

    def pending(self) -> bool:
        """Return whether an operator called since `acknowledge`.

        Reads ZooKeeper only after its watch fired. Returns False if ZooKeeper does not answer; the
        next connection signals again.
        """
        if not self._signal.is_set():
            return False
        self._signal.clear()
        try:
            return self._store.calls(self._instance) != self._answered
        except StoreUnreachable:
            return False  # the next connection signals again

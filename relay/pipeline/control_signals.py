"""Signals from operators outside the process: the position was moved, or a transaction should be
skipped.
"""

import threading

from relay.errors import StoreUnreachable
from relay.state import InstanceStore
from relay.zk import Watch


class ControlSignals:
    """Notices calls between `acknowledge` and `pending`.

    Signals alone say little, since every reconnect gives one.
    """

    def __init__(self, store: InstanceStore, instance: str) -> None:
        self._store = store
        self._instance = instance
        self._signal = threading.Event()
        self._watch: Watch | None = None
        self._answered: int | None = None

    def watch(self) -> None:
        """Begin to watch the node of signals in ZooKeeper."""
        self._watch = self._store.watch_calls(self._instance, self._signal)

    def acknowledge(self) -> None:
        """Mark the signals so far as answered by the next read.

        If ZooKeeper does not answer, it is read when it is back.
        """
        self._signal.clear()
        try:
            self._answered = self._store.calls(self._instance)
        except StoreUnreachable:
            self._answered = None

    def pending(self) -> bool:
        """Whether a signal arrived since `acknowledge`; reads ZooKeeper only after a watch
        fired.
        """
        if not self._signal.is_set():
            return False
        self._signal.clear()
        try:
            return self._store.calls(self._instance) != self._answered
        except StoreUnreachable:
            return False  # the next connection signals again

"""What an operator did to an instance from outside the process: the position moved, a transaction
to be skipped.
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
        """Begin to listen."""
        self._watch = self._store.watch_calls(self._instance, self._signal)

    def acknowledge(self) -> None:
        """What was called before is answered by what is read after this.

        What cannot be asked now is when ZooKeeper is back.
        """
        self._signal.clear()
        try:
            self._answered = self._store.calls(self._instance)
        except StoreUnreachable:
            self._answered = None

    def pending(self) -> bool:
        """Whether there was a call since `acknowledge`; asks ZooKeeper only after a signal."""
        if not self._signal.is_set():
            return False
        self._signal.clear()
        try:
            return self._store.calls(self._instance) != self._answered
        except StoreUnreachable:
            return False  # the next connection signals again

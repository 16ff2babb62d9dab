"""What an operator did to an instance from outside the process: the position moved, a transaction to be skipped."""

import threading
from typing import Final

from relay.errors import StoreUnreachable
from relay.state import InstanceStore
from relay.zk import Watch

_LOOK_SECONDS: Final = 0.2


class OperatorCall:
    """Notices calls between `forget` and `came`; signals alone say little, since every reconnect gives one."""

    def __init__(self, store: InstanceStore, instance: str) -> None:
        self._store = store
        self._instance = instance
        self._signal = threading.Event()
        self._watch: Watch | None = None
        self._answered: int | None = None

    def watch(self) -> None:
        """Begin to listen."""
        self._watch = self._store.watch_calls(self._instance, self._signal)

    def forget(self) -> None:
        """What was called before is answered by what is read after this. Raises StoreUnreachable."""
        self._signal.clear()
        self._answered = self._store.calls(self._instance)

    def came(self) -> bool:
        """Whether there was a call since `forget`; asks ZooKeeper only after a signal."""
        if not self._signal.is_set():
            return False
        self._signal.clear()
        try:
            return self._store.calls(self._instance) != self._answered
        except StoreUnreachable:
            return False  # the next connection signals again

    def wait(self, stop: threading.Event) -> None:
        """Wait for a call, or for `stop`."""
        while not stop.wait(_LOOK_SECONDS):
            if self.came():
                return

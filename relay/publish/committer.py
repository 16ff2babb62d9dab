"""Runs calls that wait for the broker on a separate thread, while other threads read and decode."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

from relay.future_of_call import complete_future
from relay.threads import RelayThread


class Committer:
    """Runs calls one after another in a daemon thread.

    A commit that never ends must not keep the process alive.
    """

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[Future[None], Callable[[], None]] | None] = SimpleQueue()
        RelayThread("commit", name, self._run).start()

    def submit(self, call: Callable[[], None]) -> "Future[None]":
        """Run `call` on the thread, after the calls before it; the future gets its result or
        error.
        """
        future: Future[None] = Future()
        self._calls.put((future, call))
        return future

    def stop(self) -> None:
        """End the thread after all calls that were submitted before."""
        self._calls.put(None)

    def _run(self) -> None:
        while (entry := self._calls.get()) is not None:
            future, call = entry
            complete_future(future, call)

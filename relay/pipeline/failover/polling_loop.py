"""The thread that polls the servers of a source: regularly, and when an operator's
order changes.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from relay.threads import Guard, RelayThread
from relay.zk import Watch

_END_SECONDS: Final = 0.1


class PollingLoop:
    """Calls `poll` in a thread at every interval, and at once when an operator's order changes.

    subject     text for the thread's name: the instance, and the source in a group
    interval_s  the interval in seconds; None: `poll` is called only when an order changes
    poll        checks the servers; its argument is an event that is set when the loop ends
    close       called once, at the end of the thread
    """

    def __init__(
        self,
        subject: str,
        interval_s: float | None,
        poll: Callable[[threading.Event], None],
        close: Callable[[], None],
    ) -> None:
        self._subject = subject
        self._interval_s = interval_s
        self._poll = poll
        self._close = close
        self._wake = threading.Event()

    @contextmanager
    def running(self, watch_orders: Callable[[threading.Event], Watch]) -> Iterator[None]:
        """Context manager: run the thread. `watch_orders` is given an event, which it sets when an
        order changes.
        """
        ended = threading.Event()
        watch = watch_orders(self._wake)
        thread = RelayThread("failover", self._subject, self._run, ended)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            self._wake.set()
            watch.cancel()
            # A poll of a server that does not answer takes seconds, and another relay may wait
            # to lead: the thread ends by itself.
            thread.join(_END_SECONDS)

    def _run(self, ended: threading.Event) -> None:
        guard = Guard("failover", self._subject)
        while not ended.is_set():
            with guard:
                self._poll(ended)
            # Without an interval only changed orders end the wait. After an unexpected error the
            # next poll does not wait for them.
            self._wake.wait(
                self._interval_s
                if guard.error is None
                else max(self._interval_s or 0.0, guard.pause_s)
            )
            self._wake.clear()
        self._close()

"""An open subscription. It returns one change after the other, and acknowledges a change when the
service requests the next one.
"""

import time
from collections import deque
from collections.abc import Iterator
from threading import Event
from typing import Final

from roma_client.kafka.feed import Feed
from roma_client.kafka.membership import Standing
from roma_client.metrics import Metrics, NoMetrics
from roma_client.names.watcher import NameWatcher
from roma_client.records.change import Change
from roma_client.records.delivery import Delivery

_FETCH_RECORDS: Final = 100
"""Messages that are taken from Kafka's client together: few are young objects at one time."""
_PARSED_CHANGES: Final = 20
"""Changes that are made ahead: few stay in the caches of the processor."""
_WAIT_SECONDS: Final = 0.5
_MILLISECONDS: Final = 1000


class Changes(Iterator[Change]):
    """Iterates over changes. Asking for the next change acknowledges the one before.

    If processing a change raises an error, or the loop is left by `break`, the change is not
    acknowledged: it is delivered again to the next client of the group. `ack()` acknowledges a
    change earlier. Use it in one thread; only `stop()` may be called from other threads
    and from signal handlers.
    """

    def __init__(
        self,
        feed: Feed,
        metrics: Metrics,
        watcher: NameWatcher,
        idle_seconds: float | None = None,
    ) -> None:
        self._feed = feed
        self._metrics = metrics
        self._is_counted = not isinstance(metrics, NoMetrics)
        self._watcher = watcher
        self._idle_seconds = idle_seconds
        self._ready: deque[Delivery] = deque()
        self._open: Delivery | None = None
        self._stop = Event()
        self._is_stopped = False  # as the event, which is slower to read
        self._last_change = time.monotonic()

    def __iter__(self) -> "Changes":
        return self

    def __next__(self) -> Change:
        delivery = self.take()
        if delivery is None:
            raise StopIteration
        return delivery.change

    def take(self) -> Delivery | None:
        """Return the next change with its receipt and record; None when the iteration ends.

        Raises the errors of `Feed.fetch`, and TableMoved.
        """
        if self._open is not None:
            self._feed.ack(self._open.receipt)
            self._open = None
        while not self._is_stopped:
            delivery = self.poll(_WAIT_SECONDS)
            if delivery is not None:
                self._open = delivery
                return delivery
            if self.is_over():
                return None
        return None

    def is_over(self, *, busy: bool = False) -> bool:
        """Return whether no change arrived for `idle_seconds` and everything is read.

        busy  whether the service is processing a change; the result is then False

        The result is also False while changes wait for a proof of membership, before the group has
        assigned partitions, and while records are unread: of other tables, or on brokers that are
        unavailable.
        """
        now = time.monotonic()
        if busy or self._ready or not self._feed.has_joined:
            self._last_change = now
        if self._idle_seconds is None or now < self._last_change + self._idle_seconds:
            return False
        if self._feed.has_read_all():
            return True
        self._last_change = time.monotonic()
        return False

    def poll(self, timeout_seconds: float) -> Delivery | None:
        """Return the next change; None after the timeout. The change is not acknowledged
        automatically.
        """
        self._watcher.check()
        ready = self._ready
        if not ready:
            ready.extend(self._feed.fetch(_FETCH_RECORDS, timeout_seconds, _PARSED_CHANGES))
        while ready:
            standing = self._feed.standing(ready[0].receipt)
            if standing is Standing.UNPROVEN:
                self._stop.wait(timeout_seconds)
                return None
            delivery = ready.popleft()
            if standing is Standing.CURRENT:
                if self._idle_seconds is not None:
                    self._last_change = time.monotonic()
                if self._is_counted:
                    self._count(delivery.change)
                return delivery
        return None

    def ack(self) -> None:
        """Acknowledge the change that was returned last, if it is not acknowledged yet."""
        if self._open is not None:
            self._feed.ack(self._open.receipt)
            self._open = None

    def leave_open(self) -> None:
        """Record that the change that was returned last must not be acknowledged, because the
        service did not receive it.
        """
        self._open = None

    def commit(self) -> None:
        """Commit the acknowledged offsets to Kafka now, instead of at the next regular commit."""
        self._feed.commit(wait=True)

    def stop(self) -> None:
        """End the iteration after the present change. Safe in other threads and in signal
        handlers.
        """
        self._is_stopped = True
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Return whether `stop()` was called."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until `stop()` is called, at most `seconds`. Return whether it was called."""
        return self._stop.wait(seconds)

    @property
    def is_active(self) -> bool:
        """Return whether the group has given partitions to this client."""
        return self._feed.is_active

    def _count(self, change: Change) -> None:
        delay = time.time() - change.order.execute_time / _MILLISECONDS
        self._metrics.delivered(change, delay)

"""Queues the items of one source of a group for the thread that merges the sources."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from relay.model.change import Advance, StreamItem, TransactionEnd
from relay.model.positions.position import BinlogPosition
from relay.settings import BufferSettings

_ITEM_BYTES: Final = 512
"""Bytes of memory of an item, in addition to the event's own."""
_MOST_HELD: Final = 256
"""Number of items of a source that are passed together."""


class Queued(NamedTuple):
    """An item of the stream.

    item        the item
    size_bytes  the size of its event
    rests_ms    when a heartbeat was received, in Unix milliseconds; 0: the item is no heartbeat
    """

    item: StreamItem
    size_bytes: int
    rests_ms: int = 0


class SourceQueue:
    """Passes items from the thread that reads one source to the thread that merges the sources; the
    reading thread waits while the queue is full.

    All queues of a group share the condition `changed`, which protects everything but `put`.

    items       the items that the merging thread can take
    head_known  whether the merge order already has the first transaction of `items`
    at_rest     whether the last item was a heartbeat: the source has no more data
    now_ms      returns the time in Unix milliseconds, for heartbeats
    failed      called with the error that ends the reading thread
    """

    def __init__(
        self,
        at: BinlogPosition,
        settings: BufferSettings,
        sources: int,
        changed: threading.Condition,
        now_ms: Callable[[], int],
        failed: Callable[[BaseException], None],
    ) -> None:
        self.items: deque[Queued] = deque()
        self.head_known = False
        self.at_rest = False
        self._by_bytes = settings.batch_mode == "MEMSIZE"
        self._capacity = max(
            1,
            settings.buffer_size
            * (settings.buffer_memunit_bytes if self._by_bytes else 1)
            // sources,
        )
        self._weight = 0
        self._at = at
        self._held: list[Queued] = []
        self._changed = changed
        self._now_ms = now_ms
        self._failed = failed
        self._closed = False

    # For the thread that reads.

    def put(self, item: StreamItem, size_bytes: int) -> bool:
        """Append an item; from time to time pass the collected items on, and wait while the queue
        is full.

        Return False if the queue was closed. `size_bytes` is the size of the item's event.
        """
        if isinstance(item, Advance):
            # Rotations in a backlog move, and say nothing about now.
            heartbeat, self._at = item.position == self._at, item.position
            self._held.append(Queued(item, size_bytes, self._now_ms() if heartbeat else 0))
            return self.hand_over()
        if isinstance(item, TransactionEnd):
            self._at = item.position
        self._held.append(Queued(item, size_bytes))
        return self.hand_over() if len(self._held) >= _MOST_HELD else not self._closed

    def hand_over(self) -> bool:
        """Pass the collected items to the merging thread, and wait while the queue is full; return
        False if the queue was closed.
        """
        if not self._held:
            return not self._closed
        with self._changed:
            while self.full and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self.items.extend(self._held)
            self._weight += sum(map(self._weight_of, self._held))
            self.at_rest = self._held[-1].rests_ms > 0
            self._changed.notify_all()
        self._held.clear()
        return True

    def fail(self, failure: BaseException) -> None:
        """Pass the collected items on, then report the error that ended the reading thread."""
        self.hand_over()
        self._failed(failure)

    def close(self) -> None:
        """Accept no more items: `put` and `hand_over` return False, even if they wait now."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # For the thread that merges.

    @property
    def full(self) -> bool:
        """Return whether the reader must wait before it adds more."""
        return self._weight >= self._capacity

    def take(self) -> Queued:
        """Remove the first item and return it."""
        taken = self.items.popleft()
        self._weight -= self._weight_of(taken)
        return taken

    def _weight_of(self, queued: Queued) -> int:
        return queued.size_bytes + _ITEM_BYTES if self._by_bytes else 1

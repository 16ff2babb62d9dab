"""The bounded buffer between decoding and publishing, with Canal's three cursors."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from relay.model.change import StreamItem
from relay.settings import BufferSettings

_SMALL_ITEM_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class BufferCursors:
    """Items put into, taken from, and acknowledged out of the buffer since it was made, and the bytes that lie in it."""

    put: int
    get: int
    ack: int
    size_bytes: int


class ChangeBuffer:
    """Items in the order of the source; `put` waits while it is full, `get` while it is empty.

    Full means `buffer_size` items (ITEMSIZE) or `buffer_size` x `buffer_memunit_bytes` bytes (MEMSIZE) that were put and not yet
    taken; one item alone always fits. The ack cursor moves when Kafka has committed. Nothing is ever published from here twice:
    after an abort the source is read again, and this buffer is left behind.
    """

    def __init__(self, settings: BufferSettings) -> None:
        by_bytes = settings.batch_mode == "MEMSIZE"
        self._capacity = settings.buffer_size * (settings.buffer_memunit_bytes if by_bytes else 1)
        self._by_bytes = by_bytes
        self._items: deque[tuple[StreamItem, int, int]] = deque()
        self._weight = self._size_bytes = 0
        self._put = self._get = self._ack = 0
        self._closed = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    @property
    def cursors(self) -> BufferCursors:
        return BufferCursors(self._put, self._get, self._ack, self._size_bytes)

    @property
    def empty(self) -> bool:
        return not self._items

    def put(self, item: StreamItem, size_bytes: int) -> bool:
        """Append an item, waiting for room; False when the buffer was closed."""
        weight = max(size_bytes, _SMALL_ITEM_BYTES) if self._by_bytes else 1
        with self._changed:
            while self._items and self._weight + weight > self._capacity and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._items.append((item, weight, size_bytes))
            self._weight += weight
            self._size_bytes += size_bytes
            self._put += 1
            self._changed.notify_all()
        return True

    def get(self, timeout_s: float) -> StreamItem | None:
        """Take the next item; None when none came in time. Raises what the reader ended with, behind the last item."""
        with self._changed:
            if not self._items and self._failure is None:
                self._changed.wait(timeout_s)
            if self._items:
                item, weight, size_bytes = self._items.popleft()
                self._weight -= weight
                self._size_bytes -= size_bytes
                self._get += 1
                self._changed.notify_all()
                return item
            if self._failure is not None:
                raise self._failure
        return None

    def ack(self) -> None:
        """Everything taken so far is committed."""
        self._ack = self._get

    def fail(self, failure: BaseException) -> None:
        """The reader has ended; `get` raises it once everything before it is taken."""
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def close(self) -> None:
        """Free a waiting reader; nothing more is taken in."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

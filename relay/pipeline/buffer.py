"""The bounded buffer between decoding and publishing. As in Canal, three cursors count the items:
put, taken, acknowledged.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

from relay.errors import GoesToSpool
from relay.model.change import StreamItem
from relay.settings import BufferSettings

_ITEM_BYTES: Final = 512
"""Bytes of memory of an item, in addition to the event's own."""
_MOST_CHUNKS: Final = 16
_LARGEST_CHUNK: Final = 1024
_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class BufferCursors:
    """The cursors of a buffer.

    put         number of items put since the buffer was created
    get         number of items taken since then
    ack         number of items acknowledged since then
    size_bytes  size of the events in the buffer now
    """

    put: int
    get: int
    ack: int
    size_bytes: int


@dataclass(slots=True)
class Chunk:
    """Items that the reading thread passes to the publishing thread together, because waking that
    thread for each item would be slow.

    items       the items
    weight      what the chunk counts against the capacity of the buffer: items or bytes
    size_bytes  the size of the items
    at          the index of the item to take next; the publishing thread raises it
    put_at_s    when the chunk entered the buffer, on the monotonic clock
    """

    items: list[StreamItem]
    weight: int = 0
    size_bytes: int = 0
    at: int = 0
    put_at_s: float = 0.0

    @property
    def done(self) -> bool:
        """Return whether every item of the chunk is taken."""
        return self.at == len(self.items)

    def __iter__(self) -> Iterator[StreamItem]:
        """Yield the items that are not taken yet, and move `at` after each."""
        while not self.done:
            self.at += 1
            yield self.items[self.at - 1]


class ChangeBuffer:
    """Passes items in the order of the source from one reading thread to one publishing thread.

    `put` waits while the buffer is full: `buffer_size` items (ITEMSIZE) or `buffer_size` x
    `buffer_memunit_bytes` bytes (MEMSIZE) were put and not yet taken. One chunk alone always fits.
    Items are passed in chunks; the reading thread calls `hand_over` to pass an unfinished chunk
    before it waits for the source.

    `ack` only counts: the buffer does not keep taken items. After an abort the source is read again
    into a new buffer. While the buffer is full, `put` calls `overdue` with the age of the oldest
    chunk in seconds; if `overdue` returns True, `put` raises GoesToSpool.
    """

    def __init__(
        self, settings: BufferSettings, overdue: Callable[[float], bool] | None = None
    ) -> None:
        by_bytes = settings.batch_mode == "MEMSIZE"
        self._capacity = settings.buffer_size * (settings.buffer_memunit_bytes if by_bytes else 1)
        self._item_weight = _ITEM_BYTES if by_bytes else 1
        self._by_bytes = by_bytes
        self._chunk_weight = max(
            1, min(self._capacity // _MOST_CHUNKS, _LARGEST_CHUNK * self._item_weight)
        )
        self._filling: list[StreamItem] = []
        self._filling_weight = self._filling_bytes = 0
        self._waiting: deque[Chunk] = deque()
        self._chunk = Chunk([])
        self._weight = self._size_bytes = 0
        self._put = self._taken_before = self._ack = 0
        self._closed = self._woken = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._overdue = overdue

    @property
    def cursors(self) -> BufferCursors:
        """The three cursors and the size of the buffer. Any thread may read them."""
        return BufferCursors(self._put, self.taken, self._ack, self._size_bytes)

    @property
    def empty(self) -> bool:
        """Return whether no item can be taken now."""
        return self._chunk.done and not self._waiting

    def put(self, item: StreamItem, size_bytes: int) -> bool:
        """Append an item, and wait if the buffer is full; return False if the buffer was closed.

        `size_bytes` is the size of the item's event. Raises GoesToSpool.
        """
        self._filling.append(item)
        self._filling_bytes += size_bytes
        self._filling_weight += self._item_weight + (size_bytes if self._by_bytes else 0)
        return self.hand_over() if self._filling_weight >= self._chunk_weight else not self._closed

    def hand_over(self) -> bool:
        """Pass the items of the unfinished chunk to the taking thread, and wait if the buffer is
        full; return False if the buffer was closed.
        """
        if not self._filling:
            return not self._closed
        chunk = Chunk(self._filling, self._filling_weight, self._filling_bytes)
        with self._changed:
            while (
                self._waiting and self._weight + chunk.weight > self._capacity and not self._closed
            ):
                self._wait_for_room()
            if self._closed:
                return False
            chunk.put_at_s = monotonic()
            self._waiting.append(chunk)
            self._weight += chunk.weight
            self._size_bytes += chunk.size_bytes
            self._put += len(chunk.items)
            self._changed.notify_all()
        self._filling, self._filling_weight, self._filling_bytes = [], 0, 0
        return True

    def take(self, timeout_s: float) -> Chunk:
        """Return the next chunk; an empty chunk if none arrived in `timeout_s` seconds, or after
        `wake`.

        If an error ended the reading thread, raises this error once all items before it are taken.
        """
        chunk = self._next_chunk(timeout_s)
        self._taken_before += self._chunk.at
        self._chunk = chunk
        return chunk

    @property
    def taken(self) -> int:
        """The number of items that were taken so far."""
        return self._taken_before + self._chunk.at

    def ack(self, taken: int) -> None:
        """Record that the first `taken` items are committed to Kafka."""
        self._ack = taken

    def wake(self) -> None:
        """End a wait of `take` at once. If `take` is not waiting, its next call does not wait."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def fail(self, failure: BaseException) -> None:
        """Record the error that ended the reader. `take` raises it once all items before it are
        taken.
        """
        self.hand_over()
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def close(self) -> None:
        """Accept no more items: `put` and `hand_over` return False, also if they are
        waiting now.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _wait_for_room(self) -> None:
        if self._overdue is None:
            self._changed.wait()
            return
        self._changed.wait(_POLL_SECONDS)
        if self._waiting and self._overdue(monotonic() - self._waiting[0].put_at_s):
            self._filling, self._filling_weight, self._filling_bytes = [], 0, 0
            raise GoesToSpool(
                "Kafka does not accept events in time; the relay now reads "
                "further events to its disk (spool)."
            )

    def _next_chunk(self, timeout_s: float) -> Chunk:
        with self._changed:
            if not self._waiting and self._failure is None and not self._woken:
                self._changed.wait(timeout_s)
            self._woken = False
            if not self._waiting:
                if self._failure is not None:
                    raise self._failure
                return Chunk([])
            chunk = self._waiting.popleft()
            self._weight -= chunk.weight
            self._size_bytes -= chunk.size_bytes
            self._changed.notify_all()
        return chunk

"""A stream of items that are read from the spool first, and from the source after the end of the
spool.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Final

from relay.errors import BatchAborted, RelayError, SpoolUnusable, Stop
from relay.model.change import RawItem
from relay.model.positions.position import SourcePosition
from relay.pipeline.spooling.spool_writer import SpoolWriter
from relay.source import ExcludedRange, SourceStream
from relay.spool import SpoolCursor, SpooledItems

_POLL_SECONDS: Final = 0.02
"""Poll interval in seconds for new data in the spool; only a stream at its end waits."""


class SpooledStream:
    """A stream like SourceStream that reads the spool first.

    from_disk         True: its items still come from the spool
    waiting_since_ms  when the present items were read from the source, in Unix milliseconds; None:
                      no item waits
    damaged           True: the spool could not be read to its end
    """

    def __init__(self, start: SourcePosition, cursor: SpoolCursor, filling: SpoolWriter) -> None:
        self.start = start
        self.waiting_since_ms: int | None = None
        self.from_disk = True
        self.damaged = False
        self._cursor = cursor
        self._filling = filling
        self._live: SourceStream | None = None
        self._closed = threading.Event()

    def items(self, before_waiting: Callable[[], object] = lambda: None) -> Iterator[RawItem]:
        """Yield items until `close` is called; `before_waiting` is called before each possible
        wait.

        Raises the errors of SourceStream, SpoolUnusable and BatchAborted.
        """
        items: Iterator[RawItem] = iter(())
        try:
            yield from self._spooled(before_waiting)
            if not self._closed.is_set():
                self._live, items = self._filling.take_over(before_waiting)
        finally:
            self._cursor.close()
            self.from_disk, self.waiting_since_ms = False, None
            if self._live is None:
                self._filling.no_longer_wanted()
        if self._live is not None and self._closed.is_set():
            self._live.close()
        yield from items

    @property
    def left_out(self) -> frozenset[ExcludedRange]:
        """The rolled-back rows that the items leave out; empty while they come from the spool,
        which has no rolled-back rows.
        """
        return frozenset() if self._live is None else self._live.left_out

    @property
    def silent_seconds(self) -> float:
        """Return how many seconds the source has sent only heartbeats; 0 while items come from the
        spool, whose transactions are all whole.
        """
        return 0.0 if self._live is None else self._live.silent_seconds

    def close(self) -> None:
        """End the iteration of `items`. Any thread may call it, also several times."""
        self._closed.set()
        if self._live is not None:
            self._live.close()

    def _spooled(self, before_waiting: Callable[[], object]) -> Iterator[RawItem]:
        """Yield the items on disk, until the stream that continues after them is available."""
        behind: bool | RelayError = False
        while not self._closed.is_set():
            found = self._next()
            if found is not None:
                self.waiting_since_ms = found.read_ms
                yield from found.items
            elif isinstance(behind, Stop):
                # The next run opens the source at its committed position, and decides there
                # what this error means.
                raise BatchAborted(
                    f"The source cannot be read after the spool's end: {behind.reason}"
                ) from behind
            elif isinstance(behind, RelayError):
                raise behind
            elif behind:
                return
            else:
                self.waiting_since_ms = None
                # What was written before the answer may be visible only now: one more look.
                behind = self._filling.ask()
                if not behind:
                    before_waiting()
                    self._closed.wait(_POLL_SECONDS)

    def _next(self) -> SpooledItems | None:
        try:
            return self._cursor.next()
        except SpoolUnusable:
            self.damaged = True
            raise

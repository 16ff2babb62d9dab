"""A stream that comes out of the spool first, and from the source where that ends."""

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
    """A SourceStream that is read from disk first; `from_disk` until its items come from the
    source.

    `waiting_since_ms` is when its present items were read from the source, in Unix milliseconds;
    None if no item waits. `damaged` says that the spool cannot be read further.
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
        """Yield items until `close` is called.

        Raises the errors of SourceStream, and SpoolUnusable.
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
        """As SourceStream; none while items come from disk, where no row is rolled back."""
        return frozenset() if self._live is None else self._live.left_out

    @property
    def silent_seconds(self) -> float:
        """As SourceStream; 0 while items come from disk, where every transaction is whole."""
        return 0.0 if self._live is None else self._live.silent_seconds

    def close(self) -> None:
        """Make `items` end soon, from any thread, as often as one likes."""
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

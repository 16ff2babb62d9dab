"""Reads the source into the spool in a thread, until the publisher has published the spool and
takes the stream from this thread.
"""

import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final, TypeAlias

import structlog

from relay.errors import RelayError, RolledBackRows, SpoolUnusable, Unreachable
from relay.model.change import Advance, RawItem, TransactionEnd
from relay.model.positions.position import SourcePosition
from relay.source import ExcludedRange, SourceStream
from relay.spool import Spool
from relay.threads import Guard, RelayThread

OpenSource: TypeAlias = Callable[[SourcePosition, list[ExcludedRange]], SourceStream]

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_FORGET_SECONDS: Final = 1.0
_ROOM_SECONDS: Final = 0.2
_STOP_SECONDS: Final = 3.0

_log = structlog.stdlib.get_logger(__name__)


class SpoolWriter:
    """Reads the source into the spool in a thread, and retries during an outage of the source.

    error  the present error; None: there is none
    full   True: the thread waits until data is published

    After the publisher has taken the stream, the thread deletes published data.
    """

    def __init__(
        self,
        name: str,
        spool: Spool,
        start: SourcePosition,
        open_source: OpenSource,
        published: Callable[[], SourcePosition | None],
    ) -> None:
        self.error: RelayError | None = None
        self.full = False
        self._name = name
        self._spool = spool
        self._start = start
        self._open_source = open_source
        self._published = published
        self._excluded: list[ExcludedRange] = []
        self._stream: SourceStream | None = None
        self._items: Iterator[RawItem] = iter(())
        self._before_waiting: Callable[[], object] = self._flush
        self._forgot_at_s = monotonic()
        self._wanted = self._handed_over = False
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = RelayThread("spool", name, self._run)

    @property
    def reading(self) -> bool:
        """Return whether the thread still reads the source."""
        return self._thread.is_alive() and not self._handed_over and not self._stop.is_set()

    @property
    def ended(self) -> bool:
        """Return whether the thread has ended and no longer writes to the spool."""
        return not self._thread.is_alive()

    def start(self) -> None:
        """Start the thread that reads the source into the spool."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and close the stream unless the publisher has taken it.

        Waits at most 3 seconds.
        """
        self._stop.set()
        if not self._handed_over and self._stream is not None:
            self._stream.close()
        self._thread.join(_STOP_SECONDS)
        self._spool.close()

    # Called by the publishing thread

    def ask(self) -> bool | RelayError:
        """Request the open stream from the thread, because all items in the spool were taken.

        Return True once `take_over` can be called, False if it cannot yet, or the error that
        prevents reading.
        """
        with self._lock:
            self._wanted = True
            if self._handed_over:
                return True
        if self.error is None and not self.reading:
            return SpoolUnusable("The thread that reads the source into the spool has ended.")
        return self.error or False

    def take_over(
        self, before_waiting: Callable[[], object]
    ) -> tuple[SourceStream, Iterator[RawItem]]:
        """Return the open stream, and its items after the spool's end; `before_waiting` is called
        before each possible wait.

        Call it only after `ask` returned True. Raises SpoolUnusable if the stream has ended.
        """
        if self._stream is None:
            raise SpoolUnusable("The source's stream has ended.")
        self._before_waiting = before_waiting
        return self._stream, self._items

    def no_longer_wanted(self) -> None:
        """Withdraw the request that `ask` made, because the caller has ended and will not take the
        stream.
        """
        with self._lock:
            self._wanted = False
        if self._handed_over:
            self._items = iter(())  # closes the connection

    # The thread

    def _run(self) -> None:
        with Guard("spool", self._name) as guard:
            try:
                if self._fill():
                    self._give_back()
            except RelayError as exc:
                self.error = exc
                _log.warning("spool_filling_stopped", instance=self._name, error=str(exc))
            finally:
                self._spool.close()
        if guard.error is not None:
            self.error = SpoolUnusable(
                f"The thread that fills the spool ended by an unexpected error ({guard.error!r})."
            )

    def _fill(self) -> bool:
        """Read until the stream is taken over: True; or until `stop`: False."""
        pause_s = _FIRST_PAUSE_SECONDS
        while not self._stop.is_set():
            try:
                if self._read():
                    return True
                pause_s = _FIRST_PAUSE_SECONDS
            except RolledBackRows as exc:
                self._excluded.extend(exc.ranges)
            except Unreachable as exc:
                self.error = exc
                self._stop.wait(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_SECONDS)
            self._spool.give_up_open()
        return False

    def _read(self) -> bool:
        """One connection; whether its stream is taken over."""
        stream = self._open_source(self._spool.end or self._start, self._excluded)
        if self._stop.is_set():
            stream.close()
            return False
        if self._spool.end is None:
            self._spool.begin(stream.start)
        self.error, self._stream = None, stream
        self._items = stream.items(before_waiting=self._wait_for_source)
        last: RawItem | None = None
        for item in self._items:
            # An idle source repeats its position.
            if not isinstance(item, Advance) or item != last:
                self._spool.append(item)
            last = item
            if self._stop.is_set():
                stream.close()
            elif isinstance(item, TransactionEnd | Advance) and self._wanted and self._hand_over():
                return True
            if self._spool.full:
                self._wait_for_room()
        return False

    def _wait_for_source(self) -> None:
        """Call the hook of the thread that iterates now."""
        self._before_waiting()

    def _hand_over(self) -> bool:
        self._spool.flush()
        with self._lock:
            self._handed_over = self._wanted
        return self._handed_over

    def _flush(self) -> None:
        self._spool.flush()
        if monotonic() - self._forgot_at_s >= _FORGET_SECONDS:
            self._forget()

    def _forget(self) -> None:
        self._forgot_at_s = monotonic()
        if (published := self._published()) is not None:
            self._spool.forget(published)

    def _wait_for_room(self) -> None:
        """Pause reading until some data is published.

        Raises SpoolUnusable if one transaction is too large.
        """
        self._spool.flush()
        while self._spool.full and not self._stop.is_set():
            if not self.full:
                self.full = True
                _log.warning("spool_full", instance=self._name, size_bytes=self._spool.size_bytes)
            published = self._published()
            if published is not None and self._spool.is_published(published):
                self._spool.begin_file()
                self._spool.forget(published)
                if self._spool.full:
                    raise SpoolUnusable(
                        f"The transaction after {published.binlog} does not fit into the "
                        "spool: spooling.limit_bytes is too small for it."
                    )
            self._forget()
            self._stop.wait(_ROOM_SECONDS)
        self.full = False

    def _give_back(self) -> None:
        """Delete published data, until none is left."""
        while not self._stop.wait(_FORGET_SECONDS):
            published = self._published()
            if published is not None and self._spool.is_published(published):
                self._spool.clear()
                return
            self._forget()

"""Reads the sources of a group. One thread for each source fills a queue; one more thread merges
the queues into the buffer, in whole transactions.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from relay.errors import BatchAborted, GoesToSpool, RelayError, RolledBackRows
from relay.merge import MergeOrder, TimeOfTransaction
from relay.model.change import Advance, FromSource, StreamItem, TransactionBegin, TransactionEnd
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.ingest.open_sources import OpenSource
from relay.pipeline.ingest.reader import Reader
from relay.pipeline.ingest.source_queue import Queued, SourceQueue
from relay.settings import BufferSettings
from relay.threads import RelayThread

_MOST_TAKEN: Final = 1024
"""Largest number of items per pass: the data between the queues and the buffer must be bounded
too.
"""
_SECOND_MS: Final = 1000


class MergeTimes(NamedTuple):
    """How the times of transactions are read and compared in a merge.

    of             returns the time of a transaction from its items
    slack_ms       how late a transaction may arrive after a heartbeat, in milliseconds
    most_ahead_ms  how far a time may be ahead of the relay's clock, in milliseconds
    now_ms         the relay's clock, in Unix milliseconds; it never goes back
    whole_seconds  the sources whose times have no fraction of a second
    """

    of: TimeOfTransaction
    slack_ms: int
    most_ahead_ms: int
    now_ms: Callable[[], int]
    whole_seconds: Collection[str] = ()


class GroupReader:
    """Fills the buffer from the open sources of a group until the sources or the buffer are closed.

    If reading fails, the buffer's `take` raises the error. If a source has rolled rows back,
    `rolled_back` is called, and the group is read again without these rows.
    """

    def __init__(
        self,
        name: str,
        sources: Mapping[str, OpenSource],
        buffer: ChangeBuffer,
        settings: BufferSettings,
        order: MergeOrder,
        times: MergeTimes,
        rolled_back: Callable[[str, RolledBackRows], None],
    ) -> None:
        self._sources = sources
        self._buffer = buffer
        self._order = order
        self._times = times
        self._rolled_back = rolled_back
        self._changed = threading.Condition()
        self._closed = False
        self._failure: BaseException | None = None
        self._open = ""  # the source whose transaction is on its way
        self._last = ""  # the source of the last item
        self._queues = {
            each: self._queue(each, source, settings) for each, source in sources.items()
        }
        self._readers = [
            Reader(
                f"{name}-{each}", source.stream, self._queues[each], _no_spool, names=source.names
            )
            for each, source in sources.items()
        ]
        self._thread = RelayThread("merge", name, self._merge)

    def start(self) -> None:
        """Start the reader of each source, then the thread that merges their queues."""
        for reader in self._readers:
            reader.start()
        self._thread.start()

    def stop(self) -> None:
        """Close the sources and the buffer, and wait for the threads."""
        self._buffer.close()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for source in self._sources.values():
            source.stream.close()
        for reader in self._readers:
            reader.stop()
        self._thread.join()

    # From the threads that read.

    def _queue(self, name: str, source: OpenSource, settings: BufferSettings) -> SourceQueue:
        at = source.stream.start.binlog
        return SourceQueue(
            at,
            settings,
            len(self._sources),
            self._changed,
            self._times.now_ms,
            lambda failure: self._failed(name, failure),
        )

    def _failed(self, name: str, failure: BaseException) -> None:
        if isinstance(failure, RolledBackRows):
            self._rolled_back(name, failure)
            failure = BatchAborted(
                f"Source {name} rolled rows back; the group is read again without them."
            )
        elif isinstance(failure, RelayError):
            failure.reason = of_source(name, failure)
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()

    # The thread that merges.

    def _merge(self) -> None:
        try:
            while items := self._next_items():
                if (
                    not all(self._buffer.put(each.item, each.size_bytes) for each in items)
                    or not self._buffer.hand_over()
                ):
                    return
        except BaseException as exc:  # noqa: BLE001 - handed to the publishing thread, which raises it
            self._buffer.fail(exc)

    def _next_items(self) -> list[Queued]:
        """Wait for items that may be passed; none when the reader ends.

        Raises the error of a source, after the items that can precede it.
        """
        with self._changed:
            while not (items := self._ready()) and not self._closed:
                if self._failure is not None:
                    raise self._failure
                self._changed.wait()
            self._changed.notify_all()
        return items

    def _ready(self) -> list[Queued]:
        """Return the items that may be passed now."""
        ready: list[Queued] = []
        while len(ready) < _MOST_TAKEN:
            if self._open:
                if not self._rest_of_open(ready):
                    break
                continue
            for name, queue in self._queues.items():
                self._tell(name, queue, ready)
            following = self._order.next()
            if following is None:
                break
            self._order.took(following)
            self._queues[following].head_known = False
            self._open = following
        return ready

    def _rest_of_open(self, ready: list[Queued]) -> bool:
        """Take items of the transaction that is being passed; False if there are none."""
        queue, before = self._queues[self._open], len(ready)
        while queue.items and len(ready) - before < _MOST_TAKEN:
            if isinstance(self._take(self._open, ready), TransactionEnd):
                self._open = ""
                break
        return len(ready) > before

    def _tell(self, name: str, queue: SourceQueue, ready: list[Queued]) -> None:
        """Report the queue's first transaction to the order.

        Items between transactions are passed on.
        """
        while queue.items and not queue.head_known:
            item = queue.items[0].item
            if isinstance(item, TransactionBegin):
                time_ms = self._times.of(each.item for each in queue.items)
                if time_ms is None and not queue.full:
                    return
                known_ms = item.header_time_s * _SECOND_MS if time_ms is None else time_ms
                self._order.came(
                    name, min(known_ms, self._times.now_ms() + self._times.most_ahead_ms)
                )
                queue.head_known = True
            elif not isinstance(item, Advance):
                raise BatchAborted(f"An item of source {name} is outside of a transaction.")
            elif self._order.first not in (None, name):
                return  # the record names the source of the half transaction, until that is whole
            else:
                self._advance(name, queue, ready)

    def _advance(self, name: str, queue: SourceQueue, ready: list[Queued]) -> None:
        """Process a heartbeat: the source has no more data.

        It is passed on only if all sources have none.
        """
        heartbeat_ms = queue.items[0].rests_ms
        if heartbeat_ms:
            self._order.rests(name, self._rests_ms(name, heartbeat_ms))
            if len(queue.items) > 1 or not all(
                each.at_rest and (each is queue or not each.items) for each in self._queues.values()
            ):
                queue.take()
                return
        self._take(name, ready)

    def _rests_ms(self, name: str, heartbeat_ms: int) -> int:
        """Return the time that all later transactions of the source reach, rounded down to its
        second.
        """
        until_ms = heartbeat_ms - self._times.slack_ms
        return until_ms - until_ms % _SECOND_MS if name in self._times.whole_seconds else until_ms

    def _take(self, name: str, ready: list[Queued]) -> StreamItem:
        taken = self._queues[name].take()
        if name != self._last:
            ready.append(Queued(FromSource(name), 0))
            self._last = name
        ready.append(taken)
        return taken.item


def of_source(name: str, error: RelayError) -> str:
    """Return the reason of an error with the name of its source in front."""
    return f"Source {name}: {error.reason}"


def _no_spool() -> None:
    raise GoesToSpool("A group of sources has no spool.")

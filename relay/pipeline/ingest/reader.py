"""The reading thread: reads the source, decodes row events, and fills the buffer."""

from collections.abc import Callable, Iterator
from typing import Protocol

from relay.decode import RowDecoder
from relay.errors import GoesToSpool
from relay.model.change import (
    Advance,
    PreparedRows,
    RawItem,
    RawRows,
    Statement,
    StreamItem,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.positions.position import SourcePosition
from relay.pipeline.ingest.names.schema_history import TableNames
from relay.pipeline.ingest.position_digests import FingerprintRecorder
from relay.source import ExcludedRange
from relay.threads import RelayThread


class ItemStream(Protocol):
    """The items of one source, from the position `start` on. One thread iterates; any thread may
    call `close`.
    """

    @property
    def start(self) -> SourcePosition:
        """Return the position after which the items begin."""

    @property
    def left_out(self) -> frozenset[ExcludedRange]:
        """The rolled-back rows that the items leave out. Any thread may read it."""

    @property
    def silent_seconds(self) -> float:
        """Return how many seconds the source has sent only heartbeats while `items` waits for it; 0
        if `items` does not wait.

        Any thread may read it.
        """

    def items(self, before_waiting: Callable[[], object]) -> Iterator[RawItem]:
        """Yield items until `close` is called. `before_waiting` is called before each possible
        wait.
        """

    def close(self) -> None:
        """End the iteration of `items`. Any thread may call it."""


class ItemSink(Protocol):
    """Receives items from a reading thread: the buffer, or the queue of one source of a group."""

    def put(self, item: StreamItem, size_bytes: int) -> bool:
        """Append an item, and wait while the sink is full; return False if the sink was closed.

        `size_bytes` is the size of the item's event.
        """

    def hand_over(self) -> bool:
        """Pass the collected items to the taking thread; return False if the sink was closed."""

    def fail(self, failure: BaseException) -> None:
        """Record the error that ended the reader; the taking thread raises it."""

    def close(self) -> None:
        """Accept no more items: `put` then returns False."""


class Reader:
    """Fills the buffer from an open source, in a thread, until the source or the buffer is closed.

    If reading fails, the buffer's `take` raises the error.

    spill         called when reading ends because items waited too long (GoesToSpool)
    look          called before each possible wait for the source; None: no call
    names         completes table maps without names
    fingerprints  records the digests of positions
    """

    def __init__(
        self,
        name: str,
        stream: ItemStream,
        buffer: ItemSink,
        spill: Callable[[], None],
        look: Callable[[], None] | None = None,
        names: TableNames | None = None,
        fingerprints: FingerprintRecorder | None = None,
    ) -> None:
        self._fingerprints = fingerprints
        self._stream = stream
        self._buffer = buffer
        self._spill = spill
        self._look = look
        self._names = names
        self._decoder = RowDecoder(complete=None if names is None else names.complete)
        self._thread = RelayThread("read", name, self._run)

    def start(self) -> None:
        """Start the reading thread. If it fails, the buffer's `take` raises the error."""
        self._thread.start()

    def stop(self) -> None:
        """Close the source and the buffer, and wait until the thread has ended."""
        self._stream.close()
        self._buffer.close()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._read()
        except GoesToSpool as exc:
            # The source's connection is closed with what iterates over it, in `_read`.
            self._spill()
            self._buffer.fail(exc)
        except BaseException as exc:  # noqa: BLE001 - handed to the publishing thread, which raises it
            self._buffer.fail(exc)

    def _read(self) -> None:
        decode: Callable[[RawRows], StreamItem] = self._decoder.open
        put = self._buffer.put
        items = self._stream.items(
            before_waiting=self._buffer.hand_over if self._look is None else self._hand_over
        )
        if self._fingerprints is not None:
            items = self._fingerprints.followed(items)
        for raw in items if self._names is None else self._followed(items, self._names):
            if isinstance(raw, RawRows):
                if not put(decode(raw), len(raw.body)):
                    return
            elif not put(raw, 0):
                return
            elif isinstance(raw, XaStep):
                decode = self._prepare if raw.action is XaAction.BEGIN else self._decoder.open

    def _prepare(self, raw: RawRows) -> PreparedRows:
        """A row event whose transaction is not committed: as it was logged, with the names that its
        table has now.
        """
        return PreparedRows(raw, self._decoder.open(raw).table)

    def _followed(self, items: Iterator[RawItem], names: TableNames) -> Iterator[RawItem]:
        """Yield the same items; items after a statement have the names that the statement made."""
        for item in items:
            if isinstance(item, Statement):
                if names.apply(item):
                    self._decoder.forget()
            elif isinstance(item, Advance | TransactionEnd):
                names.at(item.identity)
            yield item

    def _hand_over(self) -> None:
        self._buffer.hand_over()
        if self._look is not None:
            self._look()

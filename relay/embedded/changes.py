"""Passes the changes of a source to a program one after another, and saves the position that it
acknowledges.
"""

import threading
from collections.abc import Iterator
from time import monotonic
from types import TracebackType
from typing import Final

from relay.embedded.batch_reader import EmbeddedState
from relay.embedded.delivered_changes import DeliveredChanges
from relay.embedded.local_producer import Batch
from relay.embedded.position_store import PositionStore
from relay.embedded.reading import SourceReading
from relay.embedded.settings import EmbeddedSettings
from relay.embedded.stored_position import StoredPosition
from roma_client.records.change import Change
from roma_client.records.decoding import Decoder, Reading
from roma_client.records.record import Record
from roma_client.records.selection import Selection

_EVERY_TABLE: Final = Selection(lambda _: True, statements=True)
_WAIT_SECONDS: Final = 1.0


class EmbeddedChanges:
    """The changes of a source in their order. Iterate in one thread.

    `ack` saves the position after all returned changes. If the program is killed, its next run
    receives the changes that were not acknowledged again, with the same order keys. Any thread and
    signal handler may call `close`: the iteration then ends.
    """

    def __init__(self, settings: EmbeddedSettings, store: PositionStore) -> None:
        self._store = store
        self._decoder = Decoder(_EVERY_TABLE, Reading(settings.values))
        self._stop = threading.Event()
        self._number = 0
        self._failure: BaseException | None = None
        try:
            value = store.load()
            saved = None if value is None else StoredPosition.from_bytes(value)
            record, kept = (None, {}) if saved is None else (saved.record, saved.kept)
            state = EmbeddedState.of(record, kept)
            self._batches = SourceReading(settings, state, self._stop).batches()
        except BaseException:
            store.close()
            raise
        self._given = DeliveredChanges(saved)

    def __enter__(self) -> "EmbeddedChanges":
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        try:
            self._batches.close()
        finally:
            self._store.close()

    def __iter__(self) -> Iterator[Change]:
        """Yield changes until `close`. Raises as `take` does."""
        while not self._stop.is_set():
            yield from self.take(1, _WAIT_SECONDS)

    def take(self, most: int = 1000, timeout_s: float = _WAIT_SECONDS) -> list[Change]:
        """Wait for the next change, and return at least one and at most `most` changes. Return an
        empty list if none arrives in `timeout_s` seconds, and after `close`.

        The changes of a source transaction can be in several results. Raises the errors with which
        a relay stops, and after `unreachable_seconds` the error of a source that does not answer.
        After an error of the reading, each later call raises the same error: open the changes
        again.
        """
        ends_s = monotonic() + timeout_s
        while not self._given.waiting and not self._stop.is_set():
            batch = self._next_batch()
            if batch is not None:
                self._arrived(batch)
            elif monotonic() >= ends_s:
                break
        return [] if self._stop.is_set() else self._given.take(most)

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._stop.is_set()

    @property
    def position(self) -> bytes | None:
        """Return the position after the last returned change; None if the start is not known yet.

        A program that stores this together with its effects needs no `ack`.
        """
        position = self._given.position
        return None if position is None else position.to_bytes()

    def ack(self) -> None:
        """Save the position after all returned changes. Raises the errors of the position store."""
        position = self.position
        if self._given.unsaved and position is not None:
            self._store.save(position)
            self._given.unsaved = False

    def close(self) -> None:
        """End the iteration. The end of the `with` block then closes the connection and the
        store.
        """
        self._stop.set()

    def _next_batch(self) -> Batch | None:
        """Return the next batch; None after a short wait. The reading has ended after an error."""
        if self._failure is not None:
            raise self._failure
        try:
            return next(self._batches, None)
        except BaseException as exc:
            self._failure = exc
            raise

    def _arrived(self, batch: Batch) -> None:
        """Take a batch. A position without changes is saved if nothing before it is open."""
        may_save = not self._given.unsaved
        self._given.add(batch, self._changes(batch))
        if may_save and not self._given.waiting:
            self.ack()

    def _changes(self, batch: Batch) -> list[Change]:
        changes: list[Change] = []
        for each in batch.messages:
            self._number += 1
            if each.value is None:  # a tombstone, after the message of its delete
                continue
            record = Record(
                each.topic, each.partition, self._number, each.key, each.value, each.headers
            )
            changes += self._decoder.changes(record)
        return changes

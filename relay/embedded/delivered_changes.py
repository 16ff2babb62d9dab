"""Tracks the changes that the program has received, and the position after the last of them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from relay.embedded.local_producer import Batch
from relay.embedded.stored_position import StoredPosition
from roma_client.records.change import Change


@dataclass(slots=True)
class _Open:
    """A batch, and its changes that were not returned yet."""

    batch: Batch
    changes: deque[Change]


class DeliveredChanges:
    """Delivers the changes of batches one after another, and computes the position after the last
    one.

    `unsaved` is True if the position has moved since the owner last set it to False.
    """

    def __init__(self, saved: StoredPosition | None) -> None:
        self.unsaved = False
        self._record = None if saved is None else saved.record
        self._done = 0 if saved is None else saved.done
        self._newest = self._done
        kept = {} if saved is None else saved.kept
        self._kept = {store: dict(records) for store, records in kept.items()}
        self._open: deque[_Open] = deque()

    @property
    def waiting(self) -> bool:
        """Whether a change can be returned now."""
        return bool(self._open)

    @property
    def position(self) -> StoredPosition | None:
        """Return the position after the last returned change; None if the start is not known
        yet.
        """
        if self._record is None:
            return None
        kept = {store: dict(records) for store, records in self._kept.items() if records}
        return StoredPosition(self._record, self._done, kept)

    def add(self, batch: Batch, changes: Sequence[Change]) -> None:
        """Add a batch with its changes. Changes that were already added are dropped.

        Those are changes with an execute position up to the greatest one so far. A mapping with
        several topics creates several messages with the same order key; all but the first are
        dropped too.
        """
        new: deque[Change] = deque()
        for change in changes:
            if change.order.execute_position > self._newest:
                self._newest = change.order.execute_position
                new.append(change)
        self._open.append(_Open(batch, new))
        self._end_batches()

    def take(self, most: int) -> list[Change]:
        """Return at most `most` changes, the oldest first."""
        taken: list[Change] = []
        while self._open and len(taken) < most:
            changes = self._open[0].changes
            taken += [changes.popleft() for _ in range(min(most - len(taken), len(changes)))]
            self._done = taken[-1].order.execute_position
            self.unsaved = True
            self._end_batches()
        return taken

    def _end_batches(self) -> None:
        """Move the position to the end of each batch whose changes were all returned."""
        while self._open and not self._open[0].changes:
            batch = self._open.popleft().batch
            for each in batch.beside:
                records = self._kept.setdefault(each.topic, {})
                records.pop(each.key or b"", None)
                if each.value is not None:
                    records[each.key or b""] = each.value
            self._record, self._done, self.unsaved = batch.record, 0, True

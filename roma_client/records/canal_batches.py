"""Canal's batches: collects them, stores the unacknowledged ones, and checks that they are
acknowledged in order.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from roma_client.errors import BatchUnknown, DeleteWithoutColumns
from roma_client.records.ack_book import Receipt
from roma_client.records.change import Change
from roma_client.records.delivery import Delivery

EMPTY_ID: Final = -1
"""Batch id of a message without changes, as in Canal."""
USUAL_SIZE: Final = 1000
"""Changes of a batch if the client names no number, as in Canal."""


class Message(NamedTuple):
    """A batch of changes. Its `id` is EMPTY_ID if there are no changes; then it needs no
    acknowledgement.
    """

    id: int
    changes: list[Change]


class Batch(NamedTuple):
    """An unacknowledged batch: its id and receipts, without rows."""

    id: int
    receipts: list[Receipt]


class BatchesOut:
    """The delivered batches of a client that are not acknowledged. Ids are counted from 1."""

    def __init__(self) -> None:
        self._out: deque[Batch] = deque()
        self._last_id = 0

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of the batches, the oldest first."""
        return tuple(each.id for each in self._out)

    @property
    def changes(self) -> int:
        """Return the number of unacknowledged changes."""
        return sum(len(each.receipts) for each in self._out)

    def add(self, deliveries: Sequence[Delivery]) -> int:
        """Add a batch; return the id that it gets."""
        self._last_id += 1
        self._out.append(Batch(self._last_id, [each.receipt for each in deliveries]))
        return self._last_id

    def first(self, batch_id: int) -> Batch:
        """Return the oldest batch. Raises BatchUnknown if its id is not `batch_id`."""
        if batch_id not in self.ids:
            raise BatchUnknown(
                f"Batch {batch_id} is not pending.",
                "Acknowledge or roll back only batches that you received and did not "
                "acknowledge yet.",
            )
        if self._out[0].id != batch_id:
            raise BatchUnknown(
                f"Batch {batch_id} is not the oldest pending batch; the oldest is "
                f"{self._out[0].id}."
            )
        return self._out[0]

    def end_first(self) -> None:
        """Remove the oldest batch. Raises IndexError if there is none."""
        self._out.popleft()

    def clear(self) -> None:
        """Remove all batches; their ids are not used again."""
        self._out.clear()


class Collecting:
    """The changes of a batch while it is collected.

    The batch is full if it has `size` changes (USUAL_SIZE if `size` is not positive), or if the
    values of its records have `limit_bytes` in Kafka (None: no limit).
    """

    def __init__(self, size: int, limit_bytes: int | None, *, needs_columns: bool) -> None:
        """`needs_columns`: refuse a delete of which only the key is known."""
        self._found: list[Delivery] = []
        self._size = size if size > 0 else USUAL_SIZE
        self._limit = limit_bytes
        self._bytes = 0
        self._needs_columns = needs_columns
        self._is_ended = False

    def __iter__(self) -> Iterator[Delivery]:
        return iter(self._found)

    def __reversed__(self) -> Iterator[Delivery]:
        return reversed(self._found)

    @property
    def left(self) -> int:
        """Return how many changes can still be added before the batch has `size` changes."""
        return self._size - len(self._found)

    @property
    def is_full(self) -> bool:
        """Return whether no further record can be added: the batch is full, or `add` ended it."""
        is_large = self._limit is not None and self._bytes >= self._limit
        return self._is_ended or self.left <= 0 or is_large

    def has_room_for(self, delivery: Delivery) -> bool:
        """Return whether a change can be added: the batch is not full, or it already has other
        changes of the same record.
        """
        return not self.is_full or self.continues(delivery)

    def continues(self, delivery: Delivery) -> bool:
        """Return whether a change is of the same record as the last one.

        A batch has all changes of a record, because only whole records can be acknowledged: their
        offset is committed.
        """
        return bool(self._found) and self._found[-1].record is delivery.record

    def add(self, delivery: Delivery) -> bool:
        """Add a change and return True, or return False if the batch must end before the change.

        The batch ends before a delete that the client refuses (`needs_columns`), so that the
        changes before the delete are delivered first. If the batch has no changes yet, such a
        delete raises DeleteWithoutColumns. The method does not check whether the batch is full: see
        `has_room_for`.
        """
        if self._needs_columns and delivery.change.is_key_only:
            if not self._found:
                raise _without_columns(delivery.change)
            self._is_ended = True
            return False
        # A record can have several changes; its size is added with the first one.
        if not self._found or self._found[-1].record is not delivery.record:
            self._bytes += len(delivery.record.value or b"")
        self._found.append(delivery)
        return True


def deadline_of(timeout_seconds: float | None) -> float:
    """Return the time at which a batch must be returned even if it is not full (`time.monotonic`).

    For None that is the present time; for 0 it is infinity, as in Canal.
    """
    if timeout_seconds is None:
        return time.monotonic()
    return float("inf") if timeout_seconds == 0 else time.monotonic() + timeout_seconds


def _without_columns(change: Change) -> DeleteWithoutColumns:
    place = change.place
    return DeleteWithoutColumns(
        f"Record {place.offset} of {place.topic}, partition {place.partition}, deletes the row "
        f"{change.key} of {change.database}.{change.table}: compaction has removed its columns."
    )

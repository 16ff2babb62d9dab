"""Computes which offset of each partition may be committed. Changes may be acknowledged in any
order.

`canal_batches` checks that Canal's batches are acknowledged in order.
"""

from collections.abc import Iterable
from typing import NamedTuple

from roma_client.records.change import new_tuple
from roma_client.records.order_guard import Partition
from roma_client.records.record import Record


class Assignment:
    """The state of a partition since it was assigned to this client. All receipts of the partition
    share this object.

    is_current   whether the client still has the partition by this assignment
    next_offset  offset after the newest read record
    open         offset → the number of its changes that are not acknowledged, at least 1
    """

    __slots__ = ("is_current", "next_offset", "open", "partition")

    def __init__(self, partition: Partition, offset: int) -> None:
        self.partition = partition
        self.next_offset = offset
        self.open: dict[int, int] = {}
        self.is_current = True

    def committable(self) -> int:
        """Return the offset below which everything is acknowledged."""
        return next(iter(self.open), self.next_offset)


class Receipt(NamedTuple):
    """What a service needs to acknowledge a change.

    assignment  the partition's assignment; receipts of an earlier assignment are invalid
    """

    assignment: Assignment
    offset: int


class AckBook:
    """The delivered and acknowledged records of the partitions that this client has.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._assigned: dict[Partition, Assignment] = {}

    def assign(self, partition: Partition, offset: int) -> None:
        """Record that the partition was assigned and is read from `offset` on. Receipts of an
        earlier assignment become invalid.
        """
        self.revoke(partition)
        self._assigned[partition] = Assignment(partition, offset)

    def revoke(self, partition: Partition) -> None:
        """Drop a revoked partition; its receipts become invalid."""
        former = self._assigned.pop(partition, None)
        if former is not None:
            former.is_current = False

    def partitions(self) -> list[Partition]:
        """Return the partitions that this client has."""
        return list(self._assigned)

    def own(self, records: Iterable[Record]) -> list[Record]:
        """Return those of `records` whose partitions this client has."""
        assigned = self._assigned
        return [each for each in records if each[:2] in assigned]

    def is_current(self, receipt: Receipt) -> bool:
        """Return whether the receipt is valid: the partition was not revoked, or assigned again,
        since the change was delivered.
        """
        return receipt.assignment.is_current

    def deliver(self, partition: Partition, offset: int, changes: int) -> Receipt:
        """Record that a record with this many changes was read, and return the receipt of its
        changes.

        A record without changes is acknowledged at once. Raises KeyError for a partition that this
        client does not have.
        """
        assignment = self._assigned[partition]
        assignment.next_offset = offset + 1
        if changes:
            assignment.open[offset] = changes
        return new_tuple(Receipt, (assignment, offset))

    def ack(self, receipt: Receipt) -> bool:
        """Acknowledge one change of a record; return False if the receipt is invalid."""
        assignment, offset = receipt
        left = assignment.open.get(offset)
        if left is None or not assignment.is_current:
            return False
        if left == 1:
            del assignment.open[offset]
        else:
            assignment.open[offset] = left - 1
        return True

    def is_open(self, partition: Partition) -> bool:
        """Return whether the partition has delivered changes that are not acknowledged yet."""
        assignment = self._assigned.get(partition)
        return assignment is not None and bool(assignment.open)

    def committable(self) -> dict[Partition, int]:
        """Return the offset of each partition below which everything is acknowledged."""
        return {at: each.committable() for at, each in self._assigned.items()}

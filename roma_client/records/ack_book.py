"""Which offset of each partition may be committed, while changes are acknowledged in any order."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from roma_client.records.order_guard import Partition


class Receipt(NamedTuple):
    """The object by which a service acknowledges a change.

    session  number of the partition's assignment to this client; receipts of an earlier one are
             void
    """

    partition: Partition
    offset: int
    session: int


@dataclass(slots=True)
class _Page:
    session: int
    next_offset: int
    open: OrderedDict[int, int] = field(default_factory=OrderedDict)
    """Offset to the number of its changes that are not acknowledged, at least 1."""

    def committable(self) -> int:
        return next(iter(self.open), self.next_offset)


class AckBook:
    """The delivered and acknowledged records of the partitions that this client has.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._pages: dict[Partition, _Page] = {}
        self._sessions = 0

    def assign(self, partition: Partition, offset: int) -> None:
        """Begin a partition at an offset, or begin it again: older receipts are void."""
        self._sessions += 1
        self._pages[partition] = _Page(self._sessions, offset)

    def revoke(self, partition: Partition) -> None:
        """Drop a revoked partition; its receipts become invalid."""
        self._pages.pop(partition, None)

    def partitions(self) -> list[Partition]:
        """Return the partitions that this client has."""
        return list(self._pages)

    def has(self, partition: Partition) -> bool:
        """Return whether this client has a partition."""
        return partition in self._pages

    def is_current(self, receipt: Receipt) -> bool:
        """Return whether the partition is still in the session of a receipt."""
        page = self._pages.get(receipt.partition)
        return page is not None and page.session == receipt.session

    def deliver(self, partition: Partition, offset: int, changes: int) -> Receipt:
        """Record a read record with this many changes for the service.

        A record without changes is acknowledged at once. Raises KeyError for a partition that this
        client does not have.
        """
        page = self._pages[partition]
        page.next_offset = offset + 1
        if changes:
            page.open[offset] = changes
        return Receipt(partition, offset, page.session)

    def ack(self, receipt: Receipt) -> bool:
        """Acknowledge one change of a record; False if the receipt is void."""
        page = self._pages.get(receipt.partition)
        if page is None or page.session != receipt.session or not page.open.get(receipt.offset):
            return False
        page.open[receipt.offset] -= 1
        if not page.open[receipt.offset]:
            del page.open[receipt.offset]
        return True

    def is_open(self, partition: Partition) -> bool:
        """Return whether delivered changes of a partition are not acknowledged yet."""
        page = self._pages.get(partition)
        return page is not None and bool(page.open)

    def committable(self) -> dict[Partition, int]:
        """Return the offset of each partition below which everything is acknowledged."""
        return {partition: page.committable() for partition, page in self._pages.items()}

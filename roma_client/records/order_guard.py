"""Dropping of changes that were delivered before: for each key, only a greater order is new."""

from collections import OrderedDict
from typing import Final, TypeAlias

from roma_client.records.change import Order

Partition: TypeAlias = tuple[str, int]
"""Topic and partition number."""

DEFAULT_KEYS: Final = 100_000
"""The guard remembers this many keys for each partition, those of the newest changes."""


class OrderGuard:
    """The newest delivered order of each key. Not thread-safe. A dropped key counts as new: the
    service may then see a repeated change, which at-least-once delivery permits.
    """

    def __init__(self, keys: int = DEFAULT_KEYS) -> None:
        self._keys = keys
        self._newest: dict[Partition, OrderedDict[str, Order]] = {}
        self.dropped = 0

    def is_new(self, partition: Partition, key: str, order: Order) -> bool:
        """Return whether the change is newer than all delivered changes of its key.

        If so, the guard stores its order.
        """
        newest = self._newest.get(partition)
        if newest is None:
            newest = self._newest[partition] = OrderedDict()
        known = newest.get(key)
        if known is not None and order <= known:
            self.dropped += 1
            return False
        newest[key] = order
        newest.move_to_end(key)
        if len(newest) > self._keys:
            newest.popitem(last=False)
        return True

    def forget(self, partition: Partition) -> None:
        """Drop a partition: its unacknowledged changes will be delivered again."""
        self._newest.pop(partition, None)

"""Drops changes that were already delivered. A change is new if its order is greater than that of
the last delivered change of its key.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

from roma_client.records.change import Change, Order

Partition: TypeAlias = tuple[str, int]
"""Topic and partition number."""

_DIGEST_DIGITS: Final = 24
DEFAULT_KEYS: Final = 100_000
"""Number of keys that the guard stores for each partition: those of the newest changes."""


class LastChange(NamedTuple):
    """The last change before a committed offset. Copies of it may be in the topic after the offset.

    key  digest of its key, because commits must not contain values of a row
    """

    key: str
    order: Order

    @classmethod
    def of(cls, key: str, order: Order) -> "LastChange":
        """Return a LastChange with the digest of the key `key`, and its order."""
        return cls(sha256(key.encode()).hexdigest()[:_DIGEST_DIGITS], order)


_Newest: TypeAlias = tuple[int, int, int]
"""The newest order of a key, and the offset of its record. A plain tuple of numbers, which the
garbage collector leaves out.
"""


class OrderGuard:
    """The newest delivered order of each key. Not thread-safe.

    The order of a key may be removed from memory. The service may then receive a change again,
    which at-least-once delivery permits.
    """

    def __init__(
        self, keys: int = DEFAULT_KEYS, repeated: Callable[[], None] = lambda: None
    ) -> None:
        """`repeated` is called for each dropped change, except the tombstone of each delete."""
        self._keys = keys
        self._repeated = repeated
        self._newest: dict[Partition, OrderedDict[str, _Newest]] = {}
        self._before: dict[Partition, LastChange] = {}
        self._begun: dict[Partition, LastChange] = {}
        self.dropped = 0

    def begin(self, partition: Partition, last: LastChange | None) -> None:
        """Begin a partition. `last` is the change that another client delivered last; None:
        unknown.
        """
        self.forget(partition)
        if last is not None:
            self._before[partition] = self._begun[partition] = last

    def rewind(self, partition: Partition, offset: int) -> None:
        """Delete the orders of a partition's changes from an offset on, because these changes will
        be delivered again.

        The orders of earlier changes are kept, because copies of them (a tombstone, messages for
        further tags) may be after that offset.
        """
        newest = self._newest.get(partition, OrderedDict())
        for key in [key for key, (*_, at) in newest.items() if at >= offset]:
            del newest[key]
        if not newest and partition in self._begun:
            self._before[partition] = self._begun[partition]

    def last(self, partition: Partition) -> LastChange | None:
        """Return the newest delivered change that has a key; None if there is none."""
        newest = self._newest.get(partition)
        if not newest:
            return self._before.get(partition)
        key = next(reversed(newest))
        time, position, _ = newest[key]
        return LastChange.of(key, Order(time, position))

    def takes(self, partition: Partition, change: Change, offset: int) -> bool:
        """Return whether a change is given to the service: it is new, or has no key.

        Without a key the order is not compared, because instances that share a partition have
        separate orders.
        """
        key = change.key
        if key is None or self.is_new(partition, key, change.order, offset):
            return True
        if not change.is_key_only:
            self._repeated()
        return False

    def new_of(
        self, partition: Partition, changes: Sequence[Change], offset: int
    ) -> Sequence[Change]:
        """Return those changes of a record that are new, or that have no key, as `takes` does for
        one change.
        """
        if len(changes) == 1:  # the usual record
            return changes if self.takes(partition, changes[0], offset) else ()
        return [each for each in changes if self.takes(partition, each, offset)]

    def is_new(self, partition: Partition, key: str, order: Order, offset: int) -> bool:
        """Return whether a change is newer than all delivered changes of its key.

        If so, store its order and the offset of its record.
        """
        if self._before and partition in self._before and self._is_copy(partition, key, order):
            self.dropped += 1
            return False
        newest = self._newest.get(partition)
        if newest is None:
            newest = self._newest[partition] = OrderedDict()
        known = newest.get(key)
        if known is None:  # a new key is the last one already
            newest[key] = (*order, offset)
            if len(newest) > self._keys:
                newest.popitem(last=False)
            return True
        if order <= known:  # an equal order is less, for it is shorter
            self.dropped += 1
            return False
        newest[key] = (*order, offset)
        newest.move_to_end(key)
        return True

    def forget(self, partition: Partition) -> None:
        """Delete the orders of a partition: its unacknowledged changes will be delivered again."""
        self._newest.pop(partition, None)
        self._before.pop(partition, None)
        self._begun.pop(partition, None)

    def _is_copy(self, partition: Partition, key: str, order: Order) -> bool:
        """Return whether a change is the one before the start of the partition.

        Copies (a tombstone, messages for further tags) follow it: any other change ends the search.
        """
        before = self._before[partition]
        if before.order == order and before == LastChange.of(key, order):
            return True
        del self._before[partition]
        return False

"""The dictionary of bounded size that all packages share (ADR 70)."""

from collections import OrderedDict
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Entry = TypeVar("_Entry")


class BoundedCache(Generic[_Key, _Entry]):
    """A dictionary that keeps the `size` entries that were used last.

    It has no lock: threads that share one must use their own lock.
    """

    __slots__ = ("_entries", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: _Key) -> bool:
        return key in self._entries

    def get(self, key: _Key) -> _Entry | None:
        """Return the entry of `key` and mark it as most recently used; None if the key is
        missing.
        """
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: _Key, entry: _Entry) -> None:
        """Keep an entry, and drop the one that was not used for the longest time if full."""
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def pop(self, key: _Key) -> _Entry | None:
        """Remove and return the entry of `key`; None if the key is missing."""
        return self._entries.pop(key, None)

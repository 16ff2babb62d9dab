"""A dictionary of bounded size that forgets what was not used for the longest time."""

from collections import OrderedDict
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Entry = TypeVar("_Entry")


class BoundedCache(Generic[_Key, _Entry]):
    """Keeps the `size` entries used last."""

    __slots__ = ("_entries", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: _Key) -> _Entry | None:
        """Return the entry of `key` and count it as used now."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: _Key, entry: _Entry) -> None:
        """Keep `entry`, at the price of the oldest one when full."""
        self._entries[key] = entry
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

"""What is kept ready for all instances of a process: a dictionary of bounded size that forgets what was not used for the longest time."""

from collections import OrderedDict
from contextlib import suppress
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Form = TypeVar("_Form")


class BoundedForms(Generic[_Key, _Form]):
    """Keeps the `size` entries used last. Several threads may use it: each step below is one call of the interpreter, without a lock."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[_Key, _Form] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: _Key) -> _Form | None:
        """Return the entry of `key` and count it as used now."""
        form = self._entries.get(key)
        if form is not None:
            with suppress(KeyError):  # another thread has just put one too many
                self._entries.move_to_end(key)
        return form

    def put(self, key: _Key, form: _Form) -> None:
        """Keep an entry, at the price of the oldest one when full."""
        self._entries[key] = form
        if len(self._entries) > self._size:
            with suppress(KeyError):
                self._entries.popitem(last=False)

"""What is kept ready for all instances of a process, in a dictionary of bounded size."""

from contextlib import suppress
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Form = TypeVar("_Form")


class BoundedForms(dict[_Key, _Form], Generic[_Key, _Form]):
    """A dictionary to which entries are added by `keep`, at the price of the oldest one when there are `size`.

    Several threads may use it. Age and not use decides, so that looking up costs nothing beside; what is still in use is made again.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def keep(self, key: _Key, form: _Form) -> None:
        """Add an entry."""
        self[key] = form
        while len(self) > self._size:
            with suppress(KeyError, RuntimeError):  # another thread is doing the same
                del self[next(iter(self))]

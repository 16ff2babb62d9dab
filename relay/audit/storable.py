"""Converts values of audit entries into JSON that the topic can store."""

from collections.abc import Mapping
from typing import Any, Final

_LEAST: Final = -(2**63)
_GREATEST: Final = 2**64 - 1


def storable(value: Any) -> Any:
    """Return a JSON value that orjson writes and reads unchanged.

    An integer beyond 64 bits becomes a text with its digits. A lone surrogate, which UTF-8 cannot
    represent (RFC 8259, section 8.2), becomes the text of its escape. All other values are
    unchanged.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not _LEAST <= value <= _GREATEST:
        return str(value)
    if isinstance(value, Mapping):
        return {storable(name): storable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    return value

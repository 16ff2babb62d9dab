"""Finds the formats that the value of a message can have, by its first bytes."""

from collections.abc import Mapping
from typing import Final

from relay.settings.formats import REGISTERED

_HEADS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "canal-json": (b'{"data":',),
    "debezium-json": (b'{"before":', b'{"schema":', b'{"source":'),
    "maxwell-json": (b'{"database":', b'{"type":'),
    "cloudevents": (b'{"specversion":',),
    **dict.fromkeys(REGISTERED, (b"\0",)),
}
"""How values of rows and of statements begin in each format."""


def formats_of(value: bytes) -> list[str]:
    """Return the names of the formats whose values can begin with these bytes, sorted; may be
    empty.
    """
    return sorted(name for name, heads in _HEADS.items() if value.startswith(heads))

"""Table maps as a server with less row metadata would have written them."""

from typing import Final

from relay.decode.values.cursor import Cursor
from relay.model.table import Logged

_HEAD_BYTES: Final = 8
_MINIMAL: Final = frozenset({1, 2, 3, 7})
"""Signs, character sets, kinds of geometry."""


def bare_map(body: bytes, logged: Logged) -> bytes:
    """The body of a TABLE_MAP event without the optional fields that such a server leaves out."""
    cursor = Cursor(body)
    cursor.take(_HEAD_BYTES, "head")
    for what in ("database", "table"):
        cursor.lenenc_bytes(what)
        cursor.take(1, what)
    count = cursor.lenenc("count")
    cursor.take(count, "types")
    cursor.lenenc_bytes("metadata")
    cursor.take((count + 7) // 8, "nullable bits")
    kept = body[: cursor.pos]
    while cursor.remaining:
        start = cursor.pos
        kind = cursor.unsigned(1, "type")
        cursor.lenenc_bytes("value")
        if logged is Logged.FULL or (logged is Logged.MINIMAL and kind in _MINIMAL):
            kept += body[start : cursor.pos]
    return kept

"""Prints MariaDB's UUID, INET6 and INET4, which are bytes in the binlog and texts on the server.

Only the name of the type distinguishes them from BINARY.
"""

from collections.abc import Callable
from typing import Final

from relay.encode.columns import is_bytes
from relay.model.column_families import BYTES_OF_NAMED
from relay.model.table import Column, ColumnType

_WORDS: Final = 8
_MAPPED: Final = (0, 0, 0, 0, 0, 0xFFFF)
_COMPATIBLE_GAP: Final = 6


def named_bytes(column: Column, type_text: str) -> Callable[[bytes], str] | None:
    """Return the printer of a UUID, INET6 or INET4 column, which prints values as MariaDB does;
    None for every other column.

    The binlog omits trailing zero bytes of a value; the printer adds them again.
    """
    name = type_text.lower()
    length = BYTES_OF_NAMED.get(name)
    if (
        length is None
        or column.type is not ColumnType.STRING
        or not is_bytes(column)
        or column.length != length
    ):
        return None
    text = _RENDERERS[name]
    return lambda raw: text(raw.ljust(length, b"\0"))


def _uuid(raw: bytes) -> str:
    digits = raw.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _inet4(raw: bytes) -> str:
    return ".".join(map(str, raw))


def _inet6(raw: bytes) -> str:
    """Return the text of an INET6: words in hexadecimal.

    The first of the longest runs of zeros becomes `::`. An IPv4 address at the end is printed in
    its own form (MariaDB: INET6).
    """
    words = tuple(int.from_bytes(raw[at : at + 2], "big") for at in range(0, 2 * _WORDS, 2))
    start, length = _longest_gap(words)
    if start == 0 and (length == _COMPATIBLE_GAP or words[:_COMPATIBLE_GAP] == _MAPPED):
        return f"::{'' if length == _COMPATIBLE_GAP else 'ffff:'}{_inet4(raw[12:])}"
    if not length:
        return _in_hex(words)
    return f"{_in_hex(words[:start])}::{_in_hex(words[start + length :])}"


def _longest_gap(words: tuple[int, ...]) -> tuple[int, int]:
    """Return (index of the first of the longest runs of zeros, its length)."""
    best, at = (0, 0), 0
    while at < len(words):
        end = at
        while end < len(words) and not words[end]:
            end += 1
        if end - at > best[1]:
            best = at, end - at
        at = end + 1
    return best


def _in_hex(words: tuple[int, ...]) -> str:
    return ":".join(f"{word:x}" for word in words)


_RENDERERS: Final = {"uuid": _uuid, "inet6": _inet6, "inet4": _inet4}

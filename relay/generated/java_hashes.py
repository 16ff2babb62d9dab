"""Java's String.hashCode of printed values, with little work for numbers: digits are hashed four at a time, those in front are kept."""

import struct
from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import Final

_BITS_32: Final = 0xFFFF_FFFF
_CHUNK: Final = 10_000
_CHUNK_FACTOR: Final = 31**4
_KEPT: Final = 16_384
_POWERS: Final = 256


def text_hash(text: str) -> int:
    """Return the hash of an ASCII text, not yet cut to 32 bits."""
    size = len(text)
    if size <= _POWERS:
        return sum(map(mul, text.encode("ascii"), _DESCENDING[_POWERS - size :]))
    return _units_hash(text.encode("utf-16-le"))


def utf8_hash(held: str) -> int:
    """Return the hash of a text, given as one character a byte of UTF-8. Raises UnicodeDecodeError when it is none."""
    if held.isascii():
        return text_hash(held)
    return _units_hash(held.encode("latin-1").decode().encode("utf-16-le"))


def _units_hash(units: bytes) -> int:
    return reduce(lambda value, unit: value * 31 + unit & _BITS_32, struct.unpack(f"<{len(units) // 2}H", units), 0)


class _Hashes(dict[int, int]):
    """The hashes of numbers that were met, each times `factor`; all are forgotten when there are too many."""

    def __init__(self, factor: int) -> None:
        super().__init__()
        self._factor = factor

    def __missing__(self, number: int) -> int:
        if len(self) >= _KEPT:
            self.clear()
        found = self[number] = text_hash(str(number)) * self._factor & _BITS_32
        return found


def hash_names() -> Mapping[str, object]:
    """Return the names by which generated code hashes: beyond 9999 by FRONT[n // 10000] + LAST_FOUR[n % 10000], else by SHORT[n]."""
    return {
        "FRONT": _Hashes(_CHUNK_FACTOR),
        "SHORT": _Hashes(1),
        "LAST_FOUR": tuple(text_hash(f"{number:04d}") for number in range(_CHUNK)),
        "text_hash": text_hash,
        "utf8_hash": utf8_hash,
    }


_DESCENDING: Final = tuple(pow(31, power, 1 << 32) for power in range(_POWERS - 1, -1, -1))

"""Java's String.hashCode, which every partitionHash rule uses."""

from collections.abc import Iterable
from typing import Final

_BITS_32: Final = 0xFFFF_FFFF
_SIGN_BIT: Final = 0x8000_0000

# For texts up to this length, an unbounded integer is faster than 32 bits at every step.
_SHORT_TEXT_UNITS: Final = 32


def java_hash(text: str) -> int:
    """Return s[0]*31^(n-1) + … + s[n-1] over the text's UTF-16 units, as a signed 32-bit number
    (Java, String.hashCode).
    """
    units: Iterable[int] = text.encode("ascii") if text.isascii() else _utf16_units(text)
    value = 0
    if len(text) <= _SHORT_TEXT_UNITS:
        for unit in units:
            value = value * 31 + unit
        value &= _BITS_32
    else:
        for unit in units:
            value = value * 31 + unit & _BITS_32
    return value - 0x1_0000_0000 if value & _SIGN_BIT else value


def _utf16_units(text: str) -> Iterable[int]:
    """Return the UTF-16 units that Java counts. A lone surrogate is one unit for Java too."""
    octets = text.encode("utf-16-le", "surrogatepass")
    return (low | high << 8 for low, high in zip(octets[::2], octets[1::2], strict=True))

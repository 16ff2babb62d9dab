"""Decodes DECIMAL values into texts (MySQL source: decimal2bin). Nine digits are stored in four
bytes, fewer digits in as many bytes as they need.
"""

from typing import Final

from relay.decode.values.malformed import Malformed
from relay.decode.values.temporal_text import TextReader

MAX_PRECISION: Final = 65
MAX_SCALE: Final = 38
_GROUP_DIGITS: Final = 9
_BYTES_FOR_DIGITS: Final = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def _groups(precision: int, scale: int) -> tuple[list[int], list[int]]:
    """Return (digits of each group before the point, those after it), in storage order."""
    whole = precision - scale
    before = [whole % _GROUP_DIGITS] * bool(whole % _GROUP_DIGITS) + [_GROUP_DIGITS] * (
        whole // _GROUP_DIGITS
    )
    after = [_GROUP_DIGITS] * (scale // _GROUP_DIGITS) + [scale % _GROUP_DIGITS] * bool(
        scale % _GROUP_DIGITS
    )
    return before, after


def decimal_bytes(precision: int, scale: int) -> int:
    """Return the number of bytes of a DECIMAL(precision, scale).

    Raises Malformed for sizes that no server accepts.
    """
    if not 0 < precision <= MAX_PRECISION or scale > min(precision, MAX_SCALE):
        raise Malformed(f"DECIMAL({precision},{scale})")
    return sum(_BYTES_FOR_DIGITS[digits] for part in _groups(precision, scale) for digits in part)


def decimal_reader(precision: int, scale: int) -> TextReader:
    """Return a reader of DECIMAL(precision, scale). It prints all digits of the scale, and no
    leading zeros.
    """
    width = decimal_bytes(precision, scale)
    sign_bit = 1 << (8 * width - 1)
    inverse = sign_bit - 1
    before, after = _groups(precision, scale)
    shift = 8 * width
    steps = []
    for digits in before + after:
        size = 8 * _BYTES_FOR_DIGITS[digits]
        shift -= size
        steps.append((shift, (1 << size) - 1, digits, 10**digits))

    def read(body: bytes, pos: int) -> str:
        raw = int.from_bytes(body[pos : pos + width], "big")
        # The sign bit is stored inverted. In a negative number, all other bits are inverted too.
        sign, raw = ("", raw ^ sign_bit) if raw & sign_bit else ("-", raw ^ inverse)
        number = 0
        for step, mask, digits, limit in steps:
            group = raw >> step & mask
            if group >= limit:
                raise Malformed(f"{group} is not a group of {digits} decimal digits")
            number = number * limit + group
        text = f"{number:0{scale + 1}d}"
        return f"{sign}{text[:-scale]}.{text[-scale:]}" if scale else f"{sign}{text}"

    return read

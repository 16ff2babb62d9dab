"""Floating-point digits in the form that servers print."""

import struct
from typing import Final

_PLAIN_PLACES: Final = 15
"""A number whose point is farther than this from its digits is printed with an exponent."""
_SINGLE: Final = struct.Struct("<f")
_SINGLE_DIGITS: Final = (6, 7, 8, 9)
"""Digits of a FLOAT in a message, and the additional ones that it may need (IEEE 754: nine
distinguish all values).
"""


def server_form(number: str) -> str:
    """Return the server's text of a finite number. `number` is Python's text of it, with or without
    an exponent.
    """
    sign = "-" if number.startswith("-") else ""
    mantissa, _, exponent = number.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if not digits:
        return f"{sign}0"
    if not (-_PLAIN_PLACES < point <= _PLAIN_PLACES or 0 < point < len(digits)):
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[point:]}" if len(digits) > point else ""
    return f"{sign}{digits[:point].ljust(point, '0')}{fraction}"


def single_text(value: float) -> str:
    """Return the text of a FLOAT with the fewest digits, at least six, that give the same 32 bits.

    `value` is the FLOAT as a double.
    """
    text = ""
    for digits in _SINGLE_DIGITS:
        text = server_form(f"{value:.{digits - 1}e}")
        if _reads_back(text, value):
            break
    return text


def _reads_back(text: str, value: float) -> bool:
    try:
        return bool(_SINGLE.unpack(_SINGLE.pack(float(text)))[0] == value)
    except OverflowError:  # rounded up beyond the largest FLOAT
        return False

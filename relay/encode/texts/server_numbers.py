"""Prints floating-point numbers as MySQL and MariaDB do (source: strings/dtoa.cc, my_gcvt and
my_fcvt).

The text is the shortest one that gives the same number; a FLOAT has six significant digits. It has
no exponent if the decimal point is among the digits, or at most fifteen places from them.
"""

import re
from collections.abc import Callable
from typing import Final

from relay.errors import ValueNotPrintable
from relay.model.number_form import server_form

_FLOAT_DIGITS: Final = 6
_LONGEST_WHOLE: Final = len("123456789012345.0")
_FIXED: Final = re.compile(
    r"(?:float|double|real|double precision|dec)\s*\(\s*\d+\s*,\s*(\d+)\s*\)", re.IGNORECASE
)


def double_text(value: float) -> str:
    """Return the text of a DOUBLE, as the server prints it for clients."""
    text = repr(value)
    # Python's text without an exponent equals the server's, except for `.0` and whole numbers of
    # more than fifteen digits.
    if "e" not in text:
        if not text.endswith(".0"):
            return text
        if len(text) <= _LONGEST_WHOLE:
            return text[:-2]
    return server_form(text)


def float_text(value: float) -> str:
    """Return the text of a FLOAT with six digits, as the server prints it for clients."""
    return server_form(f"{value:.{_FLOAT_DIGITS - 1}e}")


def fixed_text(decimals: int) -> Callable[[float], str]:
    """Return the printer of FLOAT(M,D) and DOUBLE(M,D), where `decimals` is D."""

    def text(value: float) -> str:
        shortest = server_form(repr(value))
        whole, _, fraction = shortest.partition(".")
        if "e" not in shortest and len(fraction) <= decimals:
            return f"{whole}.{fraction.ljust(decimals, '0')}" if decimals else whole
        return f"{value:.{decimals}f}"

    return text


def json_number(text: str) -> str:
    """Return `text` unchanged: the server's text of a number is also its JSON text.

    Raises ValueNotPrintable for the text of an infinity, or of NaN.
    """
    if not text.removeprefix("-")[:1].isdigit():
        raise ValueNotPrintable(f"A column holds {text}, and JSON has no such number.")
    return text


def fixed_decimals(type_text: str) -> int | None:
    """Return D of the type text FLOAT(M,D) or DOUBLE(M,D); None for any other text."""
    match = _FIXED.match(type_text)
    return int(match[1]) if match else None

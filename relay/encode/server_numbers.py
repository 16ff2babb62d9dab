"""How MySQL and MariaDB print floating-point numbers (source of the rule: strings/dtoa.cc, my_gcvt and my_fcvt).

The shortest text that gives the same number, for FLOAT six significant digits of it; without exponent where the point stands
among the digits or within fifteen places of them.
"""

import re
from collections.abc import Callable
from typing import Final

_FLOAT_DIGITS: Final = 6
_PLAIN_PLACES: Final = 15
_FIXED: Final = re.compile(r"(?:float|double|real|double precision|dec)\s*\(\s*\d+\s*,\s*(\d+)\s*\)", re.IGNORECASE)


def double_text(value: float) -> str:
    """Return the text of a DOUBLE."""
    return _general(repr(value))


def float_text(value: float) -> str:
    """Return the text of a FLOAT: six digits, as every client of the server sees it."""
    return _general(f"{value:.{_FLOAT_DIGITS - 1}e}")


def fixed_text(decimals: int) -> Callable[[float], str]:
    """Return the printer of FLOAT(M,D) and DOUBLE(M,D) with D `decimals`."""

    def text(value: float) -> str:
        shortest = _general(repr(value))
        whole, _, fraction = shortest.partition(".")
        if "e" not in shortest and len(fraction) <= decimals:
            return f"{whole}.{fraction.ljust(decimals, '0')}" if decimals else whole
        return f"{value:.{decimals}f}"

    return text


def fixed_decimals(type_text: str) -> int | None:
    """Return D of a type text FLOAT(M,D) or DOUBLE(M,D), None of any other."""
    match = _FIXED.match(type_text)
    return int(match[1]) if match else None


def _general(number: str) -> str:
    """Print Python's digits in the server's form."""
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
    return f"{sign}{digits[:point].ljust(point, '0')}{'.' + digits[point:] if len(digits) > point else ''}"

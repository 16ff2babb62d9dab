"""FLOAT and DOUBLE as the server prints them; the generated code does the rest of the numbers itself.

relay.encode.server_numbers is the readable form of the rule: the shortest digits of a DOUBLE, six of a FLOAT, without exponent where
the point stands among the digits or within fifteen places of them.
"""

from math import isfinite
from typing import Final

import orjson

from relay.generated.tables import Refused

_PLAIN_PLACES: Final = 15
# Where shortest digits have no exponent in Python's form, in the JSON library's and in the server's.
_PLAIN_FROM: Final = 1e-4
_PLAIN_TO: Final = 1e15
_SIX_DIGITS_TO: Final = 1e5

_dumps = orjson.dumps


def double_text(value: float) -> str:
    """Return the text of a DOUBLE."""
    if _PLAIN_FROM <= value < _PLAIN_TO:
        return str(int(value)) if value.is_integer() else _dumps(value).decode()
    if not isfinite(value):
        raise Refused
    return _general(repr(value))


def float_text(value: float) -> str:
    """Return the text of a FLOAT."""
    if _PLAIN_FROM <= value < _SIX_DIGITS_TO:
        return f"{value:.6g}"
    if not isfinite(value):
        raise Refused
    return _general(f"{value:.5e}")


def _general(number: str) -> str:
    """Place the point of Python's digits as the server does."""
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

"""FLOAT and DOUBLE as the server prints them; the generated code does the rest of the numbers itself.

relay.encode.texts.server_numbers is the readable form of the rule: the shortest digits of a DOUBLE, six of a FLOAT, without exponent where
the point stands among the digits or within fifteen places of them.
"""

from math import isfinite
from typing import Final

import orjson

from relay.generated.tables import Refused
from relay.model.number_form import server_form

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
    return server_form(repr(value))


def float_text(value: float) -> str:
    """Return the text of a FLOAT."""
    if _PLAIN_FROM <= value < _SIX_DIGITS_TO:
        return f"{value:.6g}"
    if not isfinite(value):
        raise Refused
    return server_form(f"{value:.5e}")

"""Prints DECIMAL as Canal does. The binlog stores groups of nine digits, and Canal omits a shorter
last group of the fraction if it is zero. If the fraction has no other group, one zero remains.
"""

from collections.abc import Callable
from typing import Final

_DIGITS_OF_GROUP: Final = 9


def canal_decimal(scale: int) -> Callable[[str], str]:
    """Return the printer of a DECIMAL with `scale`, which converts the server's text to Canal's."""
    in_last_group = scale % _DIGITS_OF_GROUP
    if not in_last_group:
        return str
    empty = "0" * in_last_group
    left = "0" if scale == in_last_group else ""

    def text(number: str) -> str:
        return number[:-in_last_group] + left if number.endswith(empty) else number

    return text


def without_empty_group(number: str) -> str:
    """Return a decimal's text without its last group of fractional digits, if that group is shorter
    than nine digits and zero. If the fraction has no other group, one zero remains.
    """
    return canal_decimal(len(number.partition(".")[2]))(number)

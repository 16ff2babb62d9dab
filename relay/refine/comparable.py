"""Sorts the columns of conditions on rows into families, such as numbers, texts and moments, and
converts their values so that Python compares them as SQL does.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any, Final, NamedTuple

from relay.model.column_families import (
    BLOBS,
    DATES,
    DATETIMES,
    DECIMALS,
    FLOATS,
    INTEGERS,
    LABELLED,
    STRINGS,
    TIMES,
)
from relay.model.table import Column, ColumnType

_WHOLE: Final = INTEGERS | {ColumnType.YEAR, ColumnType.BIT}
_MOMENTS: Final = DATES | DATETIMES
_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)?"
)
_TIME: Final = re.compile(r"(-?)([0-9]{1,3}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")


class Family(Enum):
    """The families of columns. Only columns of one family can be compared, and numbers also with
    floats. The value is the readable name of such a column.
    """

    NUMBER = "a number"
    FLOAT = "a floating-point number"
    TEXT = "a text"
    MOMENT = "a date or a moment"
    TIME = "a TIME"
    OPAQUE = "neither number nor text nor time"


class Comparable(NamedTuple):
    """A column's family, and the function that turns its decoded values into values that Python
    compares as SQL does.
    """

    family: Family
    of: Callable[[Any], Any]


def comparable(column: Column, text: Callable[[Any], str]) -> Comparable:
    """Return how a column is compared; `text` prints its values."""
    if column.type in _WHOLE:
        return Comparable(Family.NUMBER, int)
    if column.type in DECIMALS:
        return Comparable(Family.NUMBER, Decimal)
    if column.type in FLOATS:
        return Comparable(Family.FLOAT, float)
    if column.type in _MOMENTS:
        return Comparable(Family.MOMENT, moment)
    if column.type in TIMES:
        return Comparable(Family.TIME, microseconds)
    if column.type in LABELLED or is_text(column):
        return Comparable(Family.TEXT, text)
    return Comparable(Family.OPAQUE, text)


def is_text(column: Column) -> bool:
    """Return whether a column holds characters."""
    return (
        column.type in STRINGS
        and column.charset != "binary"
        and not (column.charset is None and column.type in BLOBS)
    )


def moment(text: str) -> str:
    """Return a date or moment in a form of one width, which sorts as text.

    Raises ValueError for another text.
    """
    if _MOMENT.fullmatch(text) is None:
        raise ValueError("it must look like '2026-01-31' or '2026-01-31 23:59:59.5'")
    whole, _, fraction = (text if " " in text else f"{text} 00:00:00").partition(".")
    return f"{whole}.{fraction:0<6}"


def microseconds(text: str) -> int:
    """Return a TIME as microseconds. Raises ValueError for another text."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("it must look like '-12:34:56.7'")
    sign, hours, minutes, seconds, fraction = match.groups()
    total = ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1_000_000 + int(
        f"{fraction or '':0<6}"
    )
    return -total if sign else total

"""Converts decoded values into the plain Python values that transforms receive, and back.

A value that the column cannot hold is refused, because a format with types would write another
value in its place.
"""

import json
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from relay.model.column_families import BLOBS, BYTES_OF_INTEGERS, DATES, DECIMALS, TIMES
from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, Value
from relay.refine.comparable import Family, comparable, is_text
from relay.refine.transformed import Plain

_DAY: Final = r"[0-9]{4}-(?:0[0-9]|1[0-2])-(?:[0-2][0-9]|3[01])"
_CLOCK: Final = r":[0-5][0-9]:[0-5][0-9](?:\.([0-9]{1,6}))?"
_DATE: Final = re.compile(f"{_DAY}()")
_MOMENT: Final = re.compile(f"{_DAY} (?:[01][0-9]|2[0-3]){_CLOCK}")
_TIME: Final = re.compile(f"-?(?:[0-7]?[0-9]{{2}}|8[0-2][0-9]|83[0-8]){_CLOCK}")
_UTF8: Final = frozenset({"utf8", "utf8mb3", "utf8mb4"})
_WIDE: Final = frozenset({"ucs2", "utf16", "utf16le", "utf32"})
_THREE_BYTES: Final = frozenset({"utf8", "utf8mb3"})
_LAST_OF_THREE_BYTES: Final = "\uffff"
_YEARS: Final = range(1901, 2156)
_SINGLE: Final = struct.Struct("<f")


class PlainColumn(NamedTuple):
    """The two conversions of one column's values; NULL is not converted.

    out   decoded value to plain value
    back  plain value to decoded value; raises ValueError, TypeError or OverflowError for a value
          that the column cannot hold
    """

    out: Callable[[Any], Plain]
    back: Callable[[Any], Value]


def plain_column(column: Column, text: Callable[[Any], str]) -> PlainColumn:
    """Return the conversions of a column. `text` prints its values."""
    if column.type is ColumnType.JSON:
        return PlainColumn(text, _document)
    if column.type is ColumnType.ENUM:
        return PlainColumn(text, _label_number(column))
    if column.type is ColumnType.SET:
        return PlainColumn(text, _label_mask(column))
    match comparable(column, text).family:
        case Family.FLOAT:
            return PlainColumn(float, _floating(column))
        case Family.NUMBER if column.type in DECIMALS:
            return PlainColumn(Decimal, _decimal(column))
        case Family.NUMBER:
            return PlainColumn(int, _whole(column))
        case Family.MOMENT | Family.TIME:
            return PlainColumn(str, _temporal(column))
    if is_text(column):
        return PlainColumn(text, _encoded(column))
    return PlainColumn(bytes, lambda plain: _fitting(_checked(plain, bytes), column))


def _checked(plain: Any, *types: type) -> Any:
    """Return `plain` if it has one of the types; otherwise raise TypeError, also for a bool.

    In Python a bool is an int, but it is no number for SQL.
    """
    if not isinstance(plain, types) or isinstance(plain, bool):
        raise TypeError(
            f"{type(plain).__name__} where {' or '.join(each.__name__ for each in types)} is needed"
        )
    return plain


def _whole(column: Column) -> Callable[[Any], int]:
    least, most = _bounds(column)

    def back(plain: Any) -> int:
        number: int = _checked(plain, int)
        is_year = column.type is not ColumnType.YEAR or number in (0, *_YEARS)
        if not (least <= number <= most and is_year):
            raise ValueError(f"{column.type.name} cannot hold the number {number}")
        return number

    return back


def _bounds(column: Column) -> tuple[int, int]:
    if column.type is ColumnType.YEAR:
        return 0, _YEARS[-1]
    if column.type is ColumnType.BIT:
        return 0, 2**column.length - 1
    bits = 8 * BYTES_OF_INTEGERS[column.type]
    return (0, 2**bits - 1) if column.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _floating(column: Column) -> Callable[[Any], float]:
    def back(plain: Any) -> float:
        number = float(_checked(plain, int, float))
        if column.type is ColumnType.FLOAT:
            number = _SINGLE.unpack(_SINGLE.pack(number))[0]
        if not math.isfinite(number) or (column.unsigned and number < 0):
            raise ValueError(f"{column.type.name} cannot hold the number {number}")
        return number

    return back


def _decimal(column: Column) -> Callable[[Any], str]:
    scale, most = column.scale, column.length - column.scale

    def back(plain: Any) -> str:
        whole, _, fraction = f"{Decimal(_checked(plain, int, Decimal)):f}".partition(".")
        fraction = fraction.rstrip("0")
        digits = whole.lstrip("-")
        if len(fraction) > scale or not digits.isdecimal():
            raise ValueError(f"a DECIMAL of {scale} decimals cannot hold this number")
        is_negative = digits != whole and bool((digits + fraction).strip("0"))
        if len(digits.lstrip("0")) > most or (column.unsigned and is_negative):
            raise ValueError(f"a DECIMAL of {most} digits before the point cannot hold this number")
        return f"{whole}.{fraction:0<{scale}}" if scale else whole

    return back


def _temporal(column: Column) -> Callable[[Any], str]:
    form = _DATE if column.type in DATES else _TIME if column.type in TIMES else _MOMENT

    def back(plain: Any) -> str:
        text: str = _checked(plain, str)
        found = form.fullmatch(text)
        if found is None:
            raise ValueError(
                f"a date or time must look like '2026-01-31', '2026-01-31 23:59:59' or "
                f"'-12:34:56', as {column.type.name} prints it"
            )
        if len(found[1] or "") > column.length:
            raise ValueError(f"the column has {column.length} digits of a second")
        return text

    return back


def _encoded(column: Column) -> Callable[[Any], bytes]:
    def back(plain: Any) -> bytes:
        text: str = _checked(plain, str)
        is_wide = column.charset in _THREE_BYTES and max(text, default="") > _LAST_OF_THREE_BYTES
        is_foreign = column.charset not in _UTF8 and not text.isascii()
        if column.charset in _WIDE or is_wide or is_foreign:
            raise ValueError(
                f"a column in {column.charset} cannot take this text from a transform; add a "
                f"column for it"
            )
        return _fitting(text.encode(), column)

    return back


def _fitting(raw: bytes, column: Column) -> bytes:
    """Return the bytes, if they are not more than the column can hold.

    `length` of a blob counts the bytes of the length before a value. 0: not known.
    """
    most = 2 ** (8 * column.length) - 1 if column.type in _LENGTH_PREFIXED else column.length
    if column.length and len(raw) > most:
        raise ValueError(f"the column can hold {most} bytes, and the value has {len(raw)}")
    return raw


_LENGTH_PREFIXED: Final = BLOBS | {ColumnType.GEOMETRY, ColumnType.VECTOR}


def _document(plain: Any) -> JsonDocument:
    root = json.loads(_checked(plain, str), parse_float=_finite, parse_constant=_finite)
    json.dumps(root, ensure_ascii=False).encode()  # an escape may name half of a character
    return JsonDocument(root)


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(f"JSON cannot hold the number {number}")
    return found


def _label_number(column: Column) -> Callable[[Any], int]:
    numbers = {
        "": 0,
        **{label: number for number, label in reversed([*enumerate(column.labels, 1)])},
    }

    def back(plain: Any) -> int:
        label = _checked(plain, str)
        if label not in numbers:
            raise ValueError(f"{label!r} is none of the labels of the column")
        return numbers[label]

    return back


def _label_mask(column: Column) -> Callable[[Any], int]:
    labels = column.labels

    def back(plain: Any) -> int:
        named = filter(None, _checked(plain, str).split(","))
        return sum({1 << labels.index(label) for label in named})

    return back

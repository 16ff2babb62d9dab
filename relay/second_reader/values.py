"""Compares one value of both readers.

Values that the library is known to decode wrongly are excluded by name (ADR 8).
"""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from relay.charsets import decoder
from relay.model.column_families import DATES, DATETIMES, DECIMALS, FLOATS, INTEGERS, STRINGS, TIMES
from relay.model.table import Column, ColumnType
from relay.model.value import ABSENT, Value

EQUAL: Final = "equal"
DIFFERENT: Final = "different"

_JSON: Final = "JSON: the library changes dates, negative times and opaque values"
_ZERO_DATES: Final = (
    "zero dates: the library makes them NULL, a zero TIMESTAMP 1970 and YEAR 0000 1900"
)
_NEGATIVE_TIMES: Final = (
    "negative TIME with a fraction: the library adds the fraction where it must subtract"
)
_EMPTY_SETS: Final = "empty SET: the library makes it NULL"
_CHARSETS: Final = "text in other character sets than utf8, ascii, latin1 and gbk"
_LABELS: Final = "labels of ENUM and SET in other character sets than utf8"
_OTHER_TYPES: Final = "types that the library does not know"

_READ_WELL: Final = frozenset({"utf8", "utf8mb3", "utf8mb4", "ascii", "latin1", "gbk"})
_UNREADABLE: Final = frozenset(
    {ColumnType.VECTOR, ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED}
)
_TIME: Final = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?")


def is_readable(column: Column) -> bool:
    """Return whether the library reads tables that have a column of this type."""
    return column.type not in _UNREADABLE


def compared(column: Column, own: Value, other: object) -> str:
    """Return EQUAL, DIFFERENT, or the reason why values of this kind are not compared.

    `own` is the relay's value, `other` the library's.
    """
    if own is None or own is ABSENT:
        return EQUAL if other is None else DIFFERENT
    if column.type is ColumnType.JSON:
        return _JSON
    compare = _comparer(column)
    return _OTHER_TYPES if compare is None else compare(column, own, other)


def _comparer(column: Column) -> "Callable[[Column, Value, object], str] | None":
    return next((compare for types, compare in _COMPARERS if column.type in types), None)


def _verdict(*, equal: bool) -> str:
    return EQUAL if equal else DIFFERENT


def _same(_: Column, own: Value, other: object) -> str:
    return _verdict(equal=own == other)


def _year(_: Column, own: Value, other: object) -> str:
    return _ZERO_DATES if own == 0 else _verdict(equal=own == other)


def _bits(_: Column, own: Value, other: object) -> str:
    return _verdict(equal=isinstance(other, str) and own == int(other, 2))


def _decimal(_: Column, own: Value, other: object) -> str:
    return _verdict(equal=isinstance(own, str) and Decimal(own) == other)


def _enum(column: Column, own: Value, other: object) -> str:
    labels = ("", *column.labels)
    if not isinstance(own, int) or own >= len(labels):
        return DIFFERENT
    if other == labels[own]:
        return EQUAL
    return DIFFERENT if labels[own].isascii() else _LABELS


def _set(column: Column, own: Value, other: object) -> str:
    if own == 0:
        return _EMPTY_SETS
    if not isinstance(own, int):
        return DIFFERENT
    members = {label for bit, label in enumerate(column.labels) if own >> bit & 1}
    if members == other:
        return EQUAL
    return DIFFERENT if all(each.isascii() for each in members) else _LABELS


def _date(_: Column, own: Value, other: object) -> str:
    if not isinstance(own, str):
        return DIFFERENT
    if own.startswith("0000") or "-00" in own[:10]:
        return _ZERO_DATES
    if isinstance(other, datetime):
        whole, _dot, digits = own.partition(".")
        return _verdict(
            equal=other.isoformat(sep=" ")[:19] == whole and other.microsecond == _micros(digits)
        )
    return _verdict(equal=isinstance(other, date) and other.isoformat() == own)


def _time(_: Column, own: Value, other: object) -> str:
    found = _TIME.fullmatch(own) if isinstance(own, str) else None
    if found is None or not isinstance(other, timedelta):
        return DIFFERENT
    sign, hours, minutes, seconds, digits = found.groups()
    if sign and _micros(digits or ""):
        return _NEGATIVE_TIMES
    span = timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=_micros(digits or ""),
    )
    return _verdict(equal=(-span if sign else span) == other)


def _micros(digits: str) -> int:
    return int(digits.ljust(6, "0")) if digits else 0


def _text(column: Column, own: Value, other: object) -> str:
    if not isinstance(own, bytes):
        return DIFFERENT
    if column.charset is None or column.charset == "binary":
        # The library removes trailing zeros of BINARY(n), and returns an empty value as a str.
        found = other if isinstance(other, bytes) else b"" if other == "" else None
        return _verdict(equal=found is not None and found.rstrip(b"\0") == own.rstrip(b"\0"))
    read = decoder(column.charset) if column.charset in _READ_WELL else None
    if read is None:
        return _CHARSETS
    try:
        return _verdict(equal=read(own) == other)
    except UnicodeDecodeError:
        return _CHARSETS


_COMPARERS: Final[
    tuple[tuple[frozenset[ColumnType], Callable[[Column, Value, object], str]], ...]
] = (
    (STRINGS - _UNREADABLE | {ColumnType.GEOMETRY}, _text),
    (INTEGERS | FLOATS, _same),
    (DECIMALS, _decimal),
    (TIMES, _time),
    (DATETIMES | DATES, _date),
    (frozenset({ColumnType.YEAR}), _year),
    (frozenset({ColumnType.BIT}), _bits),
    (frozenset({ColumnType.ENUM}), _enum),
    (frozenset({ColumnType.SET}), _set),
)

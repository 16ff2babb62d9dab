"""Texts of column values as Python values, chosen by the text of the column's type.

The texts are those of `value_style = "exact"`.
"""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Convert: TypeAlias = Callable[[str], Any]

_TIME: Final = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
_MICROSECOND_DIGITS: Final = 6


def _datetime(text: str) -> datetime | str:
    """Return the time without a zone; the text itself where Python has no such date."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _timestamp(text: str) -> datetime | str:
    """Return the time in UTC; the text itself for `0000-00-00 00:00:00`."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return text


def _date(text: str) -> date | str:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


def _time(text: str) -> timedelta:
    """Return a TIME, which may be negative or longer than a day. Raises ValueError."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a TIME")
    sign, hours, minutes, seconds, fraction = match.groups(default="")
    length = timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int(fraction.ljust(_MICROSECOND_DIGITS, "0") or 0),
    )
    return -length if sign else length


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as exc:
        raise ValueError(f"{text!r} is not a DECIMAL") from exc


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split(",")) if text else frozenset()


def _bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


_BY_WORD: Final[Mapping[str, Convert]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year", "bit"), int
        ),
        **dict.fromkeys(("decimal", "numeric"), _decimal),
        **dict.fromkeys(("float", "double", "real"), float),
        "date": _date,
        "datetime": _datetime,
        "timestamp": _timestamp,
        "time": _time,
        "set": _set,
        "json": json.loads,
        **dict.fromkeys(
            (
                *("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector"),
                *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
                *("multipolygon", "geometrycollection", "geomcollection"),
            ),
            _bytes,
        ),
    }
)
_WORD: Final = re.compile(r"[a-z]+", re.ASCII)


@lru_cache(maxsize=4096)
def converter(type_text: str) -> Convert:
    """Return the function that converts a column's text to a Python value, by the type's text in
    `mysqlType`. int, Decimal, float, date, datetime, timedelta, frozenset, bytes, or a JSON
    value. Every other type stays text, and so do dates that Python does not support, such as
    `0000-00-00`.
    """
    word = _WORD.match(type_text.strip().lower())
    return _BY_WORD.get(word.group() if word else "", str)


def python_value(type_text: str, text: str | None) -> Any:
    """Return the Python value of a column's text; None for NULL. Raises ValueError."""
    return None if text is None else converter(type_text)(text)

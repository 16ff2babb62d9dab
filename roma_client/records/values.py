"""Converts the texts of column values to Python values, by the text of the column's type.

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


_Fast: TypeAlias = tuple[tuple[str, Convert], ...]
_DIRECT: Final[Mapping[Convert, Convert]] = MappingProxyType(
    {
        _datetime: datetime.fromisoformat,
        _date: date.fromisoformat,
        _timestamp: lambda text: datetime.fromisoformat(text + "+00:00"),
        _decimal: Decimal,
    }
)
"""Converters that return the same for the usual texts, and raise for every other one."""


class Columns:
    """The types of a message's columns, and the functions that convert their texts.

    Changes share it, so it must not be modified. Text columns have no function.
    """

    __slots__ = ("_fast", "_texts", "types")

    def __init__(self, types: Mapping[str, str]) -> None:
        """`types`: column name to the text of its type."""
        self.types = types
        self._fast: _Fast | None = None
        self._texts: tuple[str, ...] = ()

    def values(self, texts: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the Python values of a row's texts: column → value.

        Raises ValueError for a text that is not a value of its type, KeyError for a column without
        a type.
        """
        if self._fast is None:
            self._prepare()
        try:
            return self._all(texts)
        except (ValueError, KeyError, InvalidOperation):
            return {name: python_value(self.types[name], text) for name, text in texts.items()}

    def _all(self, texts: Mapping[str, str | None]) -> dict[str, Any]:
        """Return the values of a usual row. Raises KeyError for one that has other columns."""
        found: dict[str, Any] = {**texts}
        for name in self._texts:
            if name not in found:
                raise KeyError(name)
        for name, convert in self._fast or ():
            text = found[name]
            if text is not None:
                found[name] = convert(text)
        if len(found) != len(self.types):
            raise KeyError
        return found

    def __reduce__(self) -> tuple[type["Columns"], tuple[Mapping[str, str]]]:
        return Columns, (self.types,)

    def _prepare(self) -> None:
        found = {name: converter(each) for name, each in self.types.items()}
        self._texts = tuple(name for name, each in found.items() if each is str)
        own = [(name, each) for name, each in found.items() if each is not str]
        self._fast = tuple((name, _DIRECT.get(each, each)) for name, each in own)


@lru_cache(maxsize=4096)
def converter(type_text: str) -> Convert:
    """Return the function that converts a column's text to a Python value, for a type in
    `mysqlType`.

    It returns int, Decimal, float, date, datetime, timedelta, frozenset, bytes, or a JSON value.
    Other types stay text, and so do dates that Python does not support, such as `0000-00-00`.
    """
    word = _WORD.match(type_text.strip().lower())
    return _BY_WORD.get(word.group() if word else "", str)


def python_value(type_text: str, text: str | None) -> Any:
    """Return the Python value of a column's text; None for NULL.

    Raises ValueError if the text is not a value of the type.
    """
    return None if text is None else converter(type_text)(text)

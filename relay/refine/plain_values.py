"""Decoded values ↔ the plain ones that transforms see."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, Value
from relay.refine.comparable import Family, comparable, is_text
from relay.refine.transformed import Plain

_TEMPORAL: Final = re.compile(r"-?[0-9][0-9:. -]*")
_UTF8: Final = frozenset({"utf8", "utf8mb3", "utf8mb4", "ascii"})
_WIDE: Final = frozenset({"ucs2", "utf16", "utf16le", "utf32"})


class PlainColumn(NamedTuple):
    """Both ways for one column's values other than NULL.

    The way back raises ValueError or TypeError for a value that it cannot hold.
    """

    out: Callable[[Any], Plain]
    back: Callable[[Any], Value]


def plain_column(column: Column, text: Callable[[Any], str]) -> PlainColumn:
    """Return both ways for a column; `text` prints its values."""
    if column.type is ColumnType.JSON:
        return PlainColumn(text, _document)
    if column.type is ColumnType.ENUM:
        return PlainColumn(text, _label_number(column))
    if column.type is ColumnType.SET:
        return PlainColumn(text, _label_mask(column))
    match comparable(column, text).family:
        case Family.FLOAT:
            return PlainColumn(float, lambda plain: float(_checked(plain, int, float)))
        case Family.NUMBER if column.type in (ColumnType.NEWDECIMAL, ColumnType.DECIMAL):
            return PlainColumn(Decimal, _decimal(column.scale))
        case Family.NUMBER:
            return PlainColumn(int, lambda plain: _checked(plain, int))
        case Family.MOMENT | Family.TIME:
            return PlainColumn(str, _temporal)
    if is_text(column):
        return PlainColumn(text, _encoded(column))
    return PlainColumn(bytes, lambda plain: _checked(plain, bytes))


def _checked(plain: Any, *types: type) -> Any:
    """A bool is an int for Python alone."""
    if not isinstance(plain, types) or isinstance(plain, bool):
        raise TypeError(
            f"{type(plain).__name__} where {' or '.join(each.__name__ for each in types)} is needed"
        )
    return plain


def _decimal(scale: int) -> Callable[[Any], str]:
    def back(plain: Any) -> str:
        whole, _, fraction = f"{Decimal(_checked(plain, int, Decimal)):f}".partition(".")
        fraction = fraction.rstrip("0")
        if len(fraction) > scale or not whole.lstrip("-").isdecimal():
            raise ValueError(f"a DECIMAL of {scale} decimals cannot hold this number")
        return f"{whole}.{fraction:0<{scale}}" if scale else whole

    return back


def _temporal(plain: Any) -> str:
    text: str = _checked(plain, str)
    if _TEMPORAL.fullmatch(text) is None:
        raise ValueError("a date or time must look like '2026-01-31 23:59:59'")
    return text


def _encoded(column: Column) -> Callable[[Any], bytes]:
    def back(plain: Any) -> bytes:
        text: str = _checked(plain, str)
        if column.charset in _WIDE or (column.charset not in _UTF8 and not text.isascii()):
            raise ValueError(
                f"a column in {column.charset} cannot take this text from a transform; add a "
                f"column for it"
            )
        return text.encode()

    return back


def _document(plain: Any) -> JsonDocument:
    return JsonDocument(json.loads(_checked(plain, str)))


def _label_number(column: Column) -> Callable[[Any], int]:
    labels = ("", *column.labels)
    return lambda plain: labels.index(_checked(plain, str))


def _label_mask(column: Column) -> Callable[[Any], int]:
    labels = column.labels

    def back(plain: Any) -> int:
        named = filter(None, _checked(plain, str).split(","))
        return sum({1 << labels.index(label) for label in named})

    return back

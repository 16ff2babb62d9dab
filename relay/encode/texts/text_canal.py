"""Prints values in Canal's style: byte for byte as Canal prints them, including what it loses
(source: alibaba/canal, LogEventConvert).

Canal reads every string as UTF-8, regardless of its character set. It distinguishes text from bytes
by the type's name in the DDL.
"""

from typing import Final

from relay.encode.columns import ColumnText, is_bytes
from relay.encode.texts.java_numbers import java_double, java_float
from relay.encode.texts.java_utf8 import java_utf8
from relay.encode.texts.json_text import canal_json
from relay.encode.trailing_group import canal_decimal
from relay.model.column_families import BLOBS, DECIMALS, VARCHARS
from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument

_TEXTS: Final = frozenset({"TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"})


def is_canal_text(type_text: str) -> bool:
    """Return whether Canal treats a BLOB column with this type text as text.

    A type with a length, such as TEXT(9), is bytes for Canal.
    """
    return type_text.upper() in _TEXTS


def is_canal_binary(type_text: str) -> bool:
    """Return whether Canal treats a CHAR or VARCHAR column of this type text as bytes."""
    return "BINARY" in type_text.upper()


def canal_text(column: Column, type_text: str) -> ColumnText:
    """Return the function that prints a column's values in Canal's style."""
    if column.type in BLOBS:
        return java_utf8 if is_canal_text(type_text) else _latin1
    if column.type in VARCHARS:
        return _latin1 if is_canal_binary(type_text) else java_utf8
    if column.type in DECIMALS:
        return canal_decimal(column.scale)
    match column.type:
        case ColumnType.STRING:
            return _fixed_string(column, type_text)
        case ColumnType.FLOAT:
            return java_float
        case ColumnType.DOUBLE:
            return java_double
        case ColumnType.YEAR:
            return "{:04d}".format
        case ColumnType.JSON:
            return _json
        case ColumnType.GEOMETRY | ColumnType.VECTOR:
            return _latin1
    return str


def _latin1(raw: bytes) -> str:
    return raw.decode("latin-1")


def _fixed_string(column: Column, type_text: str) -> ColumnText:
    decode = _latin1 if is_canal_binary(type_text) else java_utf8
    if not is_bytes(column):
        return decode
    return lambda raw: decode(raw.rstrip(b"\0"))


def _json(value: JsonDocument | bytes) -> str:
    return canal_json(value) if isinstance(value, JsonDocument) else _latin1(value)

"""The type of a column in formats with typed values, and the conversion of values to that type.

A column has a numeric type if all its values fit. A column of bytes, and GEOMETRY and VECTOR, have
the type BYTES. Other columns have the text of the exact style, so that nothing is lost: texts,
DECIMAL, BIGINT UNSIGNED, BIT(64), dates and times, ENUM, SET, JSON.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from relay.encode.columns import is_bytes
from relay.encode.texts.named_bytes import named_bytes
from relay.encode.texts.server_numbers import json_number
from relay.encode.texts.text_exact import exact_text
from relay.model.column_families import BLOBS, INTEGERS, STRINGS
from relay.model.table import Column, ColumnType, TableDefinition


class WireType(StrEnum):
    """The types of values. The names are those of Kafka Connect."""

    INT32 = "int32"
    INT64 = "int64"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"

    @property
    def is_integer(self) -> bool:
        """Whether the values are whole numbers."""
        return self in (WireType.INT32, WireType.INT64)

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self not in (WireType.BYTES, WireType.STRING)


_MOST_BITS: Final = 63
"""Largest number of bits of a BIT column whose values fit into INT64."""


def wire_type(column: Column, type_text: str) -> WireType:
    """Return the type that a column's values have in messages. `type_text` is the column's type as
    in `mysqlType`.
    """
    if column.type in INTEGERS:
        return _integer_type(column)
    match column.type:
        case ColumnType.YEAR:
            return WireType.INT32
        case ColumnType.BIT:
            return WireType.INT64 if column.length <= _MOST_BITS else WireType.STRING
        case ColumnType.FLOAT:
            return WireType.FLOAT
        case ColumnType.DOUBLE:
            return WireType.DOUBLE
        case ColumnType.GEOMETRY | ColumnType.VECTOR:
            return WireType.BYTES
    if column.type in STRINGS and named_bytes(column, type_text) is None:
        unknown_bytes = column.charset is None and column.type in BLOBS
        return WireType.BYTES if is_bytes(column) or unknown_bytes else WireType.STRING
    return WireType.STRING


def _integer_type(column: Column) -> WireType:
    if column.type is ColumnType.LONGLONG:
        return WireType.STRING if column.unsigned else WireType.INT64
    wide = column.type is ColumnType.LONG and column.unsigned
    return WireType.INT64 if wide else WireType.INT32


class TypedColumn(NamedTuple):
    """A column with its type, and the function that converts its values to that type.

    The function accepts values other than NULL and ABSENT.
    """

    name: str
    type: WireType
    value: Callable[[Any], object]


def json_columns(
    definition: TableDefinition, undecodable: Callable[[], None]
) -> tuple[TypedColumn, ...]:
    """Return the columns with functions that convert their values for JSON: bytes to base64, FLOAT
    and DOUBLE to numbers with the digits that the server prints.

    `undecodable` is called for each value with bytes that are invalid in its character set. Raises
    SchemaMismatch if a column's character set or labels are unknown.
    """
    return tuple(
        TypedColumn(column.name, kind, _json_value(column, text, kind, undecodable))
        for column, text, kind in _columns(definition)
    )


def binary_columns(
    definition: TableDefinition, undecodable: Callable[[], None]
) -> tuple[TypedColumn, ...]:
    """Return the columns with functions that convert their values for binary formats; bytes and
    floats stay as they are.

    Parameters and errors are those of `json_columns`.
    """
    return tuple(
        TypedColumn(column.name, kind, _binary_value(column, text, kind, undecodable))
        for column, text, kind in _columns(definition)
    )


def _columns(definition: TableDefinition) -> list[tuple[Column, str, WireType]]:
    pairs = zip(definition.map.columns, definition.type_texts, strict=True)
    return [(column, text, wire_type(column, text)) for column, text in pairs]


def _json_value(
    column: Column, type_text: str, kind: WireType, undecodable: Callable[[], None]
) -> Callable[[Any], object]:
    if kind.is_integer:
        return int
    text = exact_text(column, type_text, undecodable)
    if kind.is_number:
        return lambda value: orjson.Fragment(json_number(text(value)).encode())
    return text


def _binary_value(
    column: Column, type_text: str, kind: WireType, undecodable: Callable[[], None]
) -> Callable[[Any], object]:
    if kind.is_integer:
        return int
    if kind.is_number:
        return float
    if kind is WireType.BYTES:
        if column.type is ColumnType.STRING:
            return lambda raw: raw.ljust(column.length, b"\0")
        return bytes
    return exact_text(column, type_text, undecodable)

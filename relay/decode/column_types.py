"""How each column type is stored in a row image. `image_reader` generates the reader of a table
from these descriptions.

docs/types/decoded-values.md shows it as a table. docs/types.md shows the texts of messages.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from relay.decode.values.compressed import uncompressed
from relay.decode.values.decimals import decimal_bytes, decimal_reader
from relay.decode.values.json_binary import parse_json
from relay.decode.values.malformed import Malformed
from relay.decode.values.temporal_text import (
    datetime2_reader,
    fraction_bytes,
    read_date,
    read_old_datetime,
    read_old_time,
    read_old_timestamp,
    time2_reader,
    timestamp2_reader,
)
from relay.model.table import Column, ColumnType
from relay.model.value import Value

FixedReader: TypeAlias = Callable[[bytes, int], Value]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A value of `width` bytes that a `struct` format reads."""

    width: int
    format: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value of `width` bytes that `read(body, pos)` reads."""

    width: int
    read: FixedReader


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A value with a little-endian length of `prefix` bytes before its bytes.

    `convert` makes the value from these bytes; None: the bytes are the value.
    """

    prefix: int
    convert: Callable[[bytes], Value] | None = None


Storage: TypeAlias = Unpacked | Fixed | Prefixed

_SIGNED_FORMATS: Final = {
    ColumnType.TINY: "<b",
    ColumnType.SHORT: "<h",
    ColumnType.LONG: "<i",
    ColumnType.LONGLONG: "<q",
}
_FLOAT_FORMATS: Final = {ColumnType.FLOAT: "<f", ColumnType.DOUBLE: "<d"}
_OLD_TEMPORALS: Final[dict[ColumnType, Fixed]] = {
    ColumnType.DATE: Fixed(3, read_date),
    ColumnType.NEWDATE: Fixed(3, read_date),
    ColumnType.TIME: Fixed(3, read_old_time),
    ColumnType.DATETIME: Fixed(8, read_old_datetime),
    ColumnType.TIMESTAMP: Fixed(4, read_old_timestamp),
}
_PREFIX_OF_BLOB: Final = {
    ColumnType.TINY_BLOB: 1,
    ColumnType.MEDIUM_BLOB: 3,
    ColumnType.LONG_BLOB: 4,
}
_BLOB_CONVERSIONS: Final[dict[ColumnType, Callable[[bytes], Value] | None]] = {
    ColumnType.BLOB: None,
    ColumnType.GEOMETRY: None,
    ColumnType.VECTOR: None,
    ColumnType.JSON: parse_json,
    ColumnType.BLOB_COMPRESSED: uncompressed,
}
_TEXT_CONVERSIONS: Final[dict[ColumnType, Callable[[bytes], Value] | None]] = {
    ColumnType.VARCHAR: None,
    ColumnType.VAR_STRING: None,
    ColumnType.STRING: None,
    ColumnType.VARCHAR_COMPRESSED: uncompressed,
}
# A column whose length fits into one byte has a length prefix of one byte.
_ONE_BYTE_LENGTH_MAX: Final = 255
_MAX_PREFIX: Final = 4
_MAX_BITS: Final = 64
_MAX_ENUM_BYTES: Final = 2
_MAX_SET_BYTES: Final = 8


def storage_of(column: Column) -> Storage:
    """Return how `column` is stored. Raises Malformed for measures that no server writes."""
    kind = column.type
    if (numeric := _number_storage(column)) is not None:
        return numeric
    if kind in _OLD_TEMPORALS:
        return _OLD_TEMPORALS[kind]
    if kind in _TEXT_CONVERSIONS:
        return Prefixed(1 if column.length <= _ONE_BYTE_LENGTH_MAX else 2, _TEXT_CONVERSIONS[kind])
    if kind in _PREFIX_OF_BLOB:
        return Prefixed(_PREFIX_OF_BLOB[kind])
    if kind in _BLOB_CONVERSIONS:
        if not 0 < column.length <= _MAX_PREFIX:
            raise Malformed(f"column {column.name} has a length prefix of {column.length} bytes")
        return Prefixed(column.length, _BLOB_CONVERSIONS[kind])
    return _packed_storage(column)


def _number_storage(column: Column) -> Storage | None:
    kind = column.type
    if kind in _SIGNED_FORMATS:
        code = _SIGNED_FORMATS[kind]
        return Unpacked(struct.calcsize(code), code.upper() if column.unsigned else code)
    if kind in _FLOAT_FORMATS:
        return Unpacked(struct.calcsize(_FLOAT_FORMATS[kind]), _FLOAT_FORMATS[kind])
    if kind is ColumnType.INT24:
        return Fixed(3, _read_unsigned_int24 if column.unsigned else _read_int24)
    if kind is ColumnType.YEAR:
        return Fixed(1, _read_year)
    if kind is ColumnType.NEWDECIMAL:
        return Fixed(
            decimal_bytes(column.length, column.scale), decimal_reader(column.length, column.scale)
        )
    return None


def _packed_storage(column: Column) -> Storage:
    kind, length = column.type, column.length
    if kind is ColumnType.TIMESTAMP2:
        return Fixed(4 + fraction_bytes(length), timestamp2_reader(length))
    if kind is ColumnType.DATETIME2:
        return Fixed(5 + fraction_bytes(length), datetime2_reader(length))
    if kind is ColumnType.TIME2:
        return Fixed(3 + fraction_bytes(length), time2_reader(length))
    if kind is ColumnType.BIT and 0 < length <= _MAX_BITS:
        return Fixed(
            (length + 7) // 8, partial(_read_bits, width=(length + 7) // 8, limit=1 << length)
        )
    if kind is ColumnType.ENUM and 0 < length <= _MAX_ENUM_BYTES:
        return Fixed(length, partial(_read_label, width=length, limit=len(column.labels) + 1))
    if kind is ColumnType.SET and 0 < length <= _MAX_SET_BYTES:
        return Fixed(length, partial(_read_label, width=length, limit=1 << len(column.labels)))
    raise Malformed(
        f"column {column.name} is {kind.name} of length {length}, which no row can have"
    )


def _read_unsigned_int24(body: bytes, pos: int) -> int:
    return body[pos] | body[pos + 1] << 8 | body[pos + 2] << 16


def _read_int24(body: bytes, pos: int) -> int:
    return (_read_unsigned_int24(body, pos) ^ 0x800000) - 0x800000


def _read_year(body: bytes, pos: int) -> int:
    """Return the year; 0 is the server's year 0000."""
    stored = body[pos]
    return stored + 1900 if stored else 0


def _read_bits(body: bytes, pos: int, *, width: int, limit: int) -> int:
    bits = int.from_bytes(body[pos : pos + width], "big")
    if bits >= limit:
        raise Malformed(f"the bits {bits:#x} do not fit the column")
    return bits


def _read_label(body: bytes, pos: int, *, width: int, limit: int) -> int:
    number = int.from_bytes(body[pos : pos + width], "little")
    if number >= limit:
        raise Malformed(f"the number {number} is not a label of the column")
    return number

"""The fixed part of a table map: type, length and nullability of each column."""

from dataclasses import dataclass
from typing import Final

from relay.decode.values.cursor import Cursor
from relay.decode.values.malformed import Malformed
from relay.errors import UnsupportedEvent
from relay.model.table import ColumnType, TableId

_ONE_BYTE_METADATA: Final = frozenset(
    {
        ColumnType.FLOAT,
        ColumnType.DOUBLE,
        ColumnType.TIMESTAMP2,
        ColumnType.DATETIME2,
        ColumnType.TIME2,
        ColumnType.BLOB_COMPRESSED,
        ColumnType.VECTOR,
        ColumnType.JSON,
        ColumnType.TINY_BLOB,
        ColumnType.MEDIUM_BLOB,
        ColumnType.LONG_BLOB,
        ColumnType.BLOB,
        ColumnType.GEOMETRY,
    }
)
_TWO_BYTE_METADATA: Final = frozenset(
    {
        ColumnType.VARCHAR,
        ColumnType.VARCHAR_COMPRESSED,
        ColumnType.BIT,
        ColumnType.NEWDECIMAL,
        ColumnType.ENUM,
        ColumnType.SET,
        ColumnType.VAR_STRING,
        ColumnType.STRING,
    }
)
UPGRADE: Final = "Upgrade the relay; the server is newer than the versions that it supports."
"""Remedy for an error about something that only a newer server logs."""


@dataclass(slots=True)
class ColumnShape:
    """The facts about one column in the fixed part of a table map.

    length    in the unit of the type: bytes of a string, bits of a BIT, digits of a NEWDECIMAL,
              fractional digits of a time
    scale     digits after the point of a NEWDECIMAL
    nullable  whether the column can be NULL
    """

    type: ColumnType
    length: int
    scale: int
    nullable: bool


def read_shapes(cursor: Cursor, table: TableId) -> list[ColumnShape]:
    """Return the columns in order, and move the cursor to the optional metadata after them.

    Raises UnsupportedEvent for a type that only a newer server has, and Malformed.
    """
    count = cursor.lenenc("the column count")
    codes = cursor.take(count, "the column types")
    metadata = Cursor(cursor.lenenc_bytes("the column metadata"))
    shapes = [_shape(code, metadata, table) for code in codes]
    if metadata.remaining:
        raise Malformed(f"{metadata.remaining} bytes of column metadata belong to no column")
    nullable = cursor.take((count + 7) // 8, "the nullable bits")
    for index, shape in enumerate(shapes):
        shape.nullable = bool(nullable[index >> 3] & (1 << (index & 7)))
    return shapes


def _shape(code: int, metadata: Cursor, table: TableId) -> ColumnShape:
    try:
        kind = ColumnType(code)
    except ValueError:
        raise UnsupportedEvent(
            f"{table} has a column of the unknown type {code}.", remedy=UPGRADE
        ) from None
    if kind in _ONE_BYTE_METADATA:
        return ColumnShape(kind, metadata.unsigned(1, "column metadata"), 0, nullable=False)
    if kind not in _TWO_BYTE_METADATA:
        return ColumnShape(kind, 0, 0, nullable=False)
    first, second = metadata.take(2, "column metadata")
    if kind in (ColumnType.VARCHAR, ColumnType.VARCHAR_COMPRESSED):
        return ColumnShape(kind, first | second << 8, 0, nullable=False)
    if kind is ColumnType.BIT:
        return ColumnShape(kind, second * 8 + first, 0, nullable=False)
    if kind is ColumnType.NEWDECIMAL:
        return ColumnShape(kind, first, second, nullable=False)
    return _string_shape(first, second)


def _string_shape(real_type: int, length: int) -> ColumnShape:
    """Return the shape of a type that is written as STRING: CHAR, ENUM or SET.

    Bits 4 and 5 of the real type, inverted, are bits 8 and 9 of the length of a CHAR.
    """
    high = ~real_type & 0x30
    real_type |= 0x30
    if real_type not in (ColumnType.STRING, ColumnType.VAR_STRING, ColumnType.ENUM, ColumnType.SET):
        raise Malformed(f"a string column has the unknown real type {real_type}")
    return ColumnShape(ColumnType(real_type), length | high << 4, 0, nullable=False)

"""The numbers of java.sql.Types in the field `sqlType`.

In Canal's style, the number of an unsigned integer depends on the value: if it exceeds the signed
range, it has the number of the next larger type. In the exact style, the number depends only on the
column: unsigned integers always have the larger type, and ENUM and SET have VARCHAR.
"""

from enum import IntEnum
from typing import Final

from relay.encode.texts.text_canal import is_canal_binary, is_canal_text
from relay.model.column_families import (
    BLOBS,
    BYTES_OF_INTEGERS,
    DATES,
    DATETIMES,
    DECIMALS,
    TIMES,
    VARCHARS,
)
from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, Value


class SqlType(IntEnum):
    """The numbers of java.sql.Types that messages use."""

    BIT = -7
    TINYINT = -6
    BIGINT = -5
    CHAR = 1
    DECIMAL = 3
    INTEGER = 4
    SMALLINT = 5
    REAL = 7
    DOUBLE = 8
    VARCHAR = 12
    DATE = 91
    TIME = 92
    TIMESTAMP = 93
    OTHER = 1111
    BLOB = 2004
    CLOB = 2005


_INTEGERS: Final = {
    ColumnType.TINY: SqlType.TINYINT,
    ColumnType.SHORT: SqlType.SMALLINT,
    ColumnType.INT24: SqlType.INTEGER,
    ColumnType.LONG: SqlType.INTEGER,
    ColumnType.LONGLONG: SqlType.BIGINT,
}
_PROMOTED: Final = {
    ColumnType.TINY: SqlType.SMALLINT,
    ColumnType.SHORT: SqlType.INTEGER,
    ColumnType.INT24: SqlType.INTEGER,
    ColumnType.LONG: SqlType.BIGINT,
    ColumnType.LONGLONG: SqlType.DECIMAL,
}
_OTHERS: Final[dict[ColumnType, SqlType]] = {
    ColumnType.FLOAT: SqlType.REAL,
    ColumnType.DOUBLE: SqlType.DOUBLE,
    ColumnType.BIT: SqlType.BIT,
    ColumnType.YEAR: SqlType.VARCHAR,
    ColumnType.JSON: SqlType.VARCHAR,
    ColumnType.GEOMETRY: SqlType.BLOB,
    ColumnType.VECTOR: SqlType.BLOB,
    **dict.fromkeys(DECIMALS, SqlType.DECIMAL),
    **dict.fromkeys(DATES, SqlType.DATE),
    **dict.fromkeys(TIMES, SqlType.TIME),
    **dict.fromkeys(DATETIMES, SqlType.TIMESTAMP),
}


def exact_sql_type(column: Column) -> SqlType:
    """Return the `java.sql.Types` number of a column in the exact text style."""
    if column.type in _INTEGERS:
        return (_PROMOTED if column.unsigned else _INTEGERS)[column.type]
    if column.type in (ColumnType.ENUM, ColumnType.SET):
        return SqlType.VARCHAR
    binary = column.charset == "binary"
    return _string_type(column, binary=binary, text=not binary and column.charset is not None)


def canal_sql_type(column: Column, type_text: str, value: Value) -> SqlType:
    """Return Canal's number for one value of a column."""
    if column.type in _INTEGERS:
        beyond = (
            column.unsigned
            and isinstance(value, int)
            and bool(value >> (8 * BYTES_OF_INTEGERS[column.type] - 1))
        )
        return (_PROMOTED if beyond else _INTEGERS)[column.type]
    match column.type:
        case ColumnType.ENUM:
            return SqlType.INTEGER
        case ColumnType.SET:
            return SqlType.BLOB if value is None else SqlType.BIT
        case ColumnType.JSON:
            return SqlType.VARCHAR if isinstance(value, JsonDocument) else SqlType.OTHER
    return _string_type(column, binary=is_canal_binary(type_text), text=is_canal_text(type_text))


def _string_type(column: Column, *, binary: bool, text: bool) -> SqlType:
    """Return the number of a string column, or of a type that has only one number."""
    if column.type in BLOBS:
        return SqlType.CLOB if text else SqlType.BLOB
    if column.type in VARCHARS:
        return SqlType.BLOB if binary else SqlType.VARCHAR
    if column.type == ColumnType.STRING:
        return SqlType.BLOB if binary else SqlType.CHAR
    return _OTHERS[column.type]

"""Derives `mysqlType` texts from table maps, in the form of SHOW CREATE TABLE of MySQL 8 and later.

Table maps lack display widths, ZEROFILL, the decimals of FLOAT(M,D), MariaDB's own type names
(JSON, UUID, INET6) and the dimension of VECTOR.
"""

from dataclasses import replace
from typing import Final

from relay.model.column_families import BLOBS, DECIMALS, GEOMETRIES, VARCHARS
from relay.model.table import Column, ColumnType

_BINARY: Final = "binary"

# Bytes of the longest character of character sets; 1 for those not listed
# (information_schema.CHARACTER_SETS).
_LONGEST_CHARACTER: Final = {
    "utf8": 3,
    "utf8mb3": 3,
    "utf8mb4": 4,
    "ucs2": 2,
    "utf16": 4,
    "utf16le": 4,
    "utf32": 4,
    "gbk": 2,
    "gb2312": 2,
    "gb18030": 4,
    "big5": 2,
    "sjis": 2,
    "cp932": 2,
    "ujis": 3,
    "eucjpms": 3,
    "euckr": 2,
}
_INTEGERS: Final = {
    ColumnType.TINY: "tinyint",
    ColumnType.SHORT: "smallint",
    ColumnType.INT24: "mediumint",
    ColumnType.LONG: "int",
    ColumnType.LONGLONG: "bigint",
}
_FLOATS: Final = {ColumnType.FLOAT: "float", ColumnType.DOUBLE: "double"}
_TEMPORALS: Final = {
    ColumnType.TIME: "time",
    ColumnType.TIME2: "time",
    ColumnType.DATETIME: "datetime",
    ColumnType.DATETIME2: "datetime",
    ColumnType.TIMESTAMP: "timestamp",
    ColumnType.TIMESTAMP2: "timestamp",
}
_PLAIN: Final = {
    ColumnType.DATE: "date",
    ColumnType.NEWDATE: "date",
    ColumnType.YEAR: "year",
    ColumnType.JSON: "json",
    ColumnType.NULL: "null",
}
_BLOB_SIZES: Final = {
    ColumnType.TINY_BLOB: "tiny",
    ColumnType.MEDIUM_BLOB: "medium",
    ColumnType.LONG_BLOB: "long",
}
_SIZE_BY_LENGTH_BYTES: Final = {1: "tiny", 2: "", 3: "medium", 4: "long"}


def type_text(column: Column) -> str:
    """Return the type of a column: words in lower case, labels unchanged, such as `int unsigned`,
    `varchar(20)`, `enum('a','b')`.
    """
    if column.type in _PLAIN:
        return _PLAIN[column.type]
    if column.type in _INTEGERS:
        return _signed(_INTEGERS[column.type], column)
    if column.type in _FLOATS:
        return _signed(_FLOATS[column.type], column)
    if column.type in DECIMALS:
        return _signed(f"decimal({column.length},{column.scale})", column)
    if column.type in _TEMPORALS:
        return (
            f"{_TEMPORALS[column.type]}({column.length})"
            if column.length
            else _TEMPORALS[column.type]
        )
    return _string_type(column)


def _signed(text: str, column: Column) -> str:
    return f"{text} unsigned" if column.unsigned else text


def _varchar(column: Column) -> str:
    # The length of MariaDB's COMPRESSED column includes the byte before its value with the method.
    if column.type is ColumnType.VARCHAR_COMPRESSED:
        column = replace(column, length=column.length - 1)
    if column.charset == _BINARY:
        return f"varbinary({column.length})"
    return f"varchar({_characters(column)})"


def _string_type(column: Column) -> str:
    if column.type in VARCHARS:
        return _varchar(column)
    if column.type in BLOBS:
        size = _BLOB_SIZES.get(column.type) or _SIZE_BY_LENGTH_BYTES.get(column.length, "")
        return f"{size}{'blob' if column.charset in (_BINARY, None) else 'text'}"
    match column.type:
        case ColumnType.STRING:
            return (
                f"binary({column.length})"
                if column.charset == _BINARY
                else f"char({_characters(column)})"
            )
        case ColumnType.BIT:
            return f"bit({column.length})"
        case ColumnType.ENUM | ColumnType.SET:
            return f"{column.type.name.lower()}({','.join(map(_quoted, column.labels))})"
        case ColumnType.GEOMETRY:
            return (
                GEOMETRIES[column.geometry_type]
                if column.geometry_type < len(GEOMETRIES)
                else GEOMETRIES[0]
            )
    return column.type.name.lower()


def _characters(column: Column) -> int:
    return column.length // _LONGEST_CHARACTER.get(column.charset or "", 1)


def _quoted(label: str) -> str:
    return "'" + label.replace("'", "''") + "'"

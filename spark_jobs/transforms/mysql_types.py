"""Converts the text of a message's `mysqlType` to Spark's type, and finds the common type of
several.

Both spellings are read: the server's (`int unsigned`) and those of statements, which Canal repeats
(`INTEGER(1)`, `BOOL`).
"""

import re
from functools import reduce
from typing import Final

from pyspark.sql.types import (
    BinaryType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

_TEXT: Final = re.compile(
    r"\s*(?P<word>[a-z]+\d?)(?:\s+(?:precision|varying))?\s*(?:\((?P<arguments>[\d\s,]*)\))?(?P<rest>[^()]*)",
    re.IGNORECASE,
)
_MAX_DIGITS: Final = 38
_DOUBLE_FROM_BITS: Final = 25
_ALL_BITS: Final = 64
_INTEGERS: Final[tuple[DataType, ...]] = (
    ByteType(),
    ShortType(),
    IntegerType(),
    LongType(),
    DecimalType(20, 0),
)
"""Whole numbers, each holding those before it; the last is for BIGINT UNSIGNED."""
_DIGITS: Final = (3, 5, 10, 19, 20)
_RANKS: Final = {
    "tinyint": 0, "int1": 0, "bool": 0, "boolean": 0,
    "smallint": 1, "int2": 1, "year": 1,
    "mediumint": 2, "int3": 2, "middleint": 2, "int": 2, "integer": 2, "int4": 2,
    "bigint": 3, "int8": 3,
}  # fmt: skip
_UNSIGNED_FITS: Final = frozenset({"mediumint", "int3", "middleint", "year"})
_SERIAL: Final = "serial"
_DECIMALS: Final = frozenset({"decimal", "numeric", "dec", "fixed"})
_FLOATS: Final = frozenset({"float", "float4"})
_DOUBLES: Final = frozenset({"double", "real", "float8"})
_BINARY: Final = frozenset({
    "binary", "varbinary", "blob", "tinyblob", "mediumblob", "longblob", "vector", "geometry",
    "point", "linestring", "polygon",
    "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection",
})  # fmt: skip
_TIMES: Final[dict[str, DataType]] = {
    "date": DateType(),
    "datetime": TimestampNTZType(),
    "timestamp": TimestampType(),
}


def spark_type(text: str) -> DataType:
    """Return Spark's type for the values of a column whose `mysqlType` is `text`.

    Types without a corresponding one (TIME, ENUM, JSON, DECIMAL(65)) become text.
    """
    found = _TEXT.match(text)
    if found is None:
        return StringType()
    word, rest = found["word"].lower(), found["rest"].lower()
    arguments = [int(each) for each in (found["arguments"] or "").split(",") if each.strip()]
    if word in _RANKS:
        return _integer(word, unsigned="unsigned" in rest or "zerofill" in rest)
    if word == "bit":
        return _INTEGERS[4 if arguments == [_ALL_BITS] else 3]
    if word in _DECIMALS:
        return _decimal(*(arguments or [10]))
    if word in _FLOATS and not (len(arguments) == 1 and arguments[0] >= _DOUBLE_FROM_BITS):
        return FloatType()
    if word in _DOUBLES or word in _FLOATS:
        return DoubleType()
    if word in _BINARY:
        return BinaryType()
    return _INTEGERS[4] if word == _SERIAL else _TIMES.get(word, StringType())


def widest(*types: DataType) -> DataType:
    """Return the smallest type that can hold the values of all types; text if there is no other."""
    return reduce(_wider, types)


def _integer(word: str, *, unsigned: bool) -> DataType:
    rank = _RANKS[word]
    return _INTEGERS[rank + 1 if unsigned and word not in _UNSIGNED_FITS else rank]


def _decimal(precision: int, scale: int = 0) -> DataType:
    return DecimalType(precision, scale) if precision <= _MAX_DIGITS else StringType()


def _wider(one: DataType, other: DataType) -> DataType:
    if one == other:
        return one
    if one in _INTEGERS and other in _INTEGERS:
        return max(one, other, key=_INTEGERS.index)
    first, second = _as_decimal(one), _as_decimal(other)
    if first is not None and second is not None:
        scale = max(first.scale, second.scale)
        return _decimal(
            max(first.precision - first.scale, second.precision - second.scale) + scale, scale
        )
    kinds = {type(one), type(other)}
    if kinds & {FloatType, DoubleType} and all(_is_number(each) for each in (one, other)):
        return DoubleType()
    return TimestampNTZType() if kinds == {DateType, TimestampNTZType} else StringType()


def _as_decimal(kind: DataType) -> DecimalType | None:
    """The decimal that holds all values of a type of exact numbers."""
    if kind in _INTEGERS:
        return DecimalType(_DIGITS[_INTEGERS.index(kind)], 0)
    return kind if isinstance(kind, DecimalType) else None


def _is_number(kind: DataType) -> bool:
    return isinstance(kind, FloatType | DoubleType) or _as_decimal(kind) is not None

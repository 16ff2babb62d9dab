"""Converts each value to a canonical text, which is the same on both sides: the source computes it
by SQL, Spark from the typed copy.

The text of a row has for each column `N` if it is NULL; otherwise the length of the value's text in
bytes, a colon, and the text. So no two different rows have the same text. A checksum is the sum of
60 bits of the SHA-256 of each row's text. It does not depend on the order in which rows are read or
on the ranges that they are read in, and a duplicate row counts twice. Equal checksums mean equal
rows. Different checksums do not prove a difference: the rows of such a bucket are then compared one
by one, as values of the copy's types.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from relay.model.source_rows.columns import (
    APPROXIMATE,
    BYTES,
    LONG_BYTES,
    LONG_TEXTS,
    TEXTS,
    SourceColumn,
)
from relay.model.source_rows.texts import plain_text
from spark_jobs.comparison.server_numbers import decimals_of, double_text, fixed_text, float_text
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms.guards import UNFIT

_NULL: Final = "N"
_HASH_DIGITS: Final = 15
"""Hexadecimal digits of a row's hash that are summed: 60 bits fit into every 64-bit number."""


def source_text(column: SourceColumn) -> str:
    """Return the SQL expression for the canonical text of a column's value."""
    name = quoted(column.name)
    if column.kind in LONG_BYTES:
        return f"SHA2({name}, 256)"
    if column.kind in BYTES:
        return f"HEX({name})"
    if column.kind in LONG_TEXTS:
        return f"SHA2(CONVERT({name} USING utf8mb4), 256)"
    if column.kind in TEXTS:
        return f"CONVERT({name} USING utf8mb4)"
    padded = column.kind == "year" or "zerofill" in column.type_text.lower()
    return f"CAST({name} + 0 AS CHAR)" if padded else plain_text(column)


def copy_text(column: SourceColumn, kind: DataType) -> Column:
    """Return the Spark expression for the canonical text of a value that the copy stores as `kind`.

    If a value did not fit this type, the copy has its text in the column `_unfit`; the expression
    then returns that text.
    """
    value = sf.col(quoted(column.name))
    if isinstance(kind, StringType):
        return _long(column, value)
    return sf.coalesce(
        _long(column, sf.col(UNFIT).getItem(column.name)), _typed_text(column, kind, value)
    )


def source_row_text(
    columns: Sequence[SourceColumn], present: Mapping[str, SourceColumn] | None = None
) -> str:
    """Return the SQL expression for the canonical text of a row with these columns.

    `present` maps lower-case names to the columns that the real table of this shard has; None: it
    has all of `columns`. A column that it lacks counts as NULL.
    """
    own = [column if present is None else present.get(column.name.lower()) for column in columns]
    return f"CONCAT({', '.join(_source_part(column) for column in own)})"


def copy_row_text(columns: Sequence[SourceColumn], kinds: Mapping[str, DataType]) -> Column:
    """Return the Spark expression for the canonical text of a row of the copy.

    `kinds` maps the lower-case names of the copy's columns to their types. A column that the copy
    lacks counts as NULL.
    """
    return sf.concat(*(_copy_part(column, kinds.get(column.name.lower())) for column in columns))


def source_hash(text: str) -> str:
    """Return the SQL expression for a row's hash, 15 hexadecimal digits.

    `text` is the SQL expression for the row's canonical text.
    """
    return f"LEFT(SHA2({text}, 256), {_HASH_DIGITS})"


def copy_hash(text: Column) -> Column:
    """Return the Spark expression for the hash of a row of the copy, equal to `source_hash`.

    `text` is the Spark expression for the row's canonical text.
    """
    return sf.left(sf.sha2(text, 256), sf.lit(_HASH_DIGITS))


def source_sum(digits: str) -> str:
    """Return the SQL expression for the sum of the hashes in a group of rows, as decimal text.

    `digits` is the SQL expression for the hash of one row.
    """
    return f"CAST(SUM(CAST(CONV({digits}, 16, 10) AS UNSIGNED)) AS CHAR)"


def copy_sum(digits: Column) -> Column:
    """Return the Spark expression for the sum of the hashes in a group of rows.

    Its text equals that of `source_sum`. `digits` is the Spark expression for the hash of one row.
    """
    return sf.sum(sf.conv(digits, 16, 10).cast("decimal(20,0)")).cast("string")


def _source_part(column: SourceColumn | None) -> str:
    if column is None:
        return f"'{_NULL}'"
    text = source_text(column)
    return f"IF({quoted(column.name)} IS NULL, '{_NULL}', CONCAT(LENGTH({text}), ':', {text}))"


def _copy_part(column: SourceColumn, kind: DataType | None) -> Column:
    if kind is None:
        return sf.lit(_NULL)
    text = copy_text(column, kind)
    return sf.coalesce(
        sf.concat(sf.octet_length(text).cast("string"), sf.lit(":"), text), sf.lit(_NULL)
    )


def _long(column: SourceColumn, text: Column) -> Column:
    """Return the text of a message in canonical form: potentially very long texts as their hash,
    bytes as their digits.
    """
    if column.kind in LONG_TEXTS:
        return sf.sha2(text, 256)
    if column.kind in LONG_BYTES:
        return sf.sha2(sf.try_to_binary(text, sf.lit("base64")), 256)
    return sf.hex(sf.try_to_binary(text, sf.lit("base64"))) if column.kind in BYTES else text


def _typed_text(column: SourceColumn, kind: DataType, value: Column) -> Column:
    match kind:
        case BinaryType():
            return sf.sha2(value, 256) if column.kind in LONG_BYTES else sf.hex(value)
        case DateType():
            return sf.date_format(value, "yyyy-MM-dd")
        case TimestampType() | TimestampNTZType():
            return sf.date_format(value, f"yyyy-MM-dd HH:mm:ss{_fraction(column)}")
        case FloatType() | DoubleType() if column.kind in APPROXIMATE:
            return _approximate(column, kind, value)
    return value.cast("string")


def _approximate(column: SourceColumn, kind: DataType, value: Column) -> Column:
    decimals = decimals_of(column.type_text)
    if decimals is not None:
        return fixed_text(value, decimals)
    return float_text(value) if isinstance(kind, FloatType) else double_text(value)


def _fraction(column: SourceColumn) -> str:
    digits = column.type_text.partition("(")[2].partition(")")[0].strip()
    return f".{'S' * int(digits)}" if digits.isdecimal() and int(digits) else ""

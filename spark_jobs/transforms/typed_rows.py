"""Converts the exact text of the messages into typed columns.

A value that the type cannot represent is stored as text in the column `_unfit`.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Literal, TypeAlias

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame
from pyspark.sql.types import BinaryType, DataType, StringType, TimestampType

from spark_jobs.transforms.guards import (
    COLUMN_ORDERS,
    DELETED,
    EXECUTE_POSITION,
    EXECUTE_TIME,
    KEY,
    ORDER,
    REAL_TABLE,
    RESET_ORDER,
    UNFIT,
)
from spark_jobs.transforms.table_schema import TableSchema, spellings

Style: TypeAlias = Literal["exact", "canal"]
"""How texts in messages show bytes: "exact" as base64, "canal" with one character for each byte."""

_FURTHER_GUARDS = {
    "column_orders": COLUMN_ORDERS,
    "reset_order": RESET_ORDER,
    "real_table": REAL_TABLE,
}
_ONLY_BYTES = r"^[\x00-\xFF]*$"


def typed_rows(
    changes: DataFrame,
    versions: Sequence[TableSchema],
    columns: Mapping[str, DataType],
    style: Style = "exact",
) -> DataFrame:
    """Return the changes of one table as typed rows: guards, then `columns`.

    changes   columns key, order, execute_time, execute_position, deleted, data, mysql_types
    versions  definitions of the table among the changes
    columns   name → type that can hold the values of all versions
    style     how texts show bytes

    A column that a change does not contain is null: its table did not have the column at that time.
    """
    names = spellings((name for version in versions for name in version.mysql_types), columns)
    texts = {column: _text(names[column]) for column in columns}
    values = {
        column: _value(texts[column], _binary(names[column], versions), kind, style)
        for column, kind in columns.items()
    }
    return changes.select(
        sf.col("key").alias(KEY),
        sf.col("order").alias(ORDER),
        sf.col("execute_time").alias(EXECUTE_TIME),
        sf.col("execute_position").alias(EXECUTE_POSITION),
        sf.col("deleted").alias(DELETED),
        _unfit(texts, values).alias(UNFIT),
        *(
            sf.col(name).alias(guard)
            for name, guard in _FURTHER_GUARDS.items()
            if name in changes.columns
        ),
        *(value.alias(column) for column, value in values.items()),
    )


def _text(names: Sequence[str]) -> Column:
    """Return the column's text under any spelling of its name in the change."""
    return sf.coalesce(*(sf.col("data").getItem(name) for name in names))


def _binary(names: Sequence[str], versions: Sequence[TableSchema]) -> Sequence[str]:
    """The versions in which the column holds bytes."""
    return [
        version.text
        for version in versions
        if any(isinstance(version.type_of(name), BinaryType) for name in names)
    ]


def _value(text: Column, binary: Sequence[str], kind: DataType, style: Style) -> Column:
    """The text as a value.

    A column that is bytes in some versions and text in others is read by the row's own version.
    """
    if isinstance(kind, BinaryType) or not binary:
        return _typed(text, kind, style)
    of_bytes = sf.coalesce(sf.col("mysql_types"), sf.lit("")).isin(*binary)
    return sf.when(of_bytes, text_of_bytes(_bytes(text, style))).otherwise(text)


def _bytes(text: Column, style: Style) -> Column:
    if style == "canal":
        return sf.when(text.rlike(_ONLY_BYTES), sf.encode(text, "ISO-8859-1"))
    return sf.try_to_binary(text, sf.lit("base64"))


def text_of_bytes(value: Column) -> Column:
    """Return the Spark expression for the text of former bytes, for a column whose type became
    text.

    Bytes that are valid UTF-8 give their characters, others their base64.
    """
    text = value.cast("string")
    return sf.when(sf.is_valid_utf8(text), text).otherwise(sf.base64(value))


def retyped(value: Column, held: DataType, kind: DataType) -> Column:
    """Return the Spark expression that converts a value of a copy's column to a wider type.

    held  present type of the column
    kind  its new type
    """
    return (
        text_of_bytes(value)
        if isinstance(held, BinaryType) and isinstance(kind, StringType)
        else value.cast(kind)
    )


def _typed(text: Column, kind: DataType, style: Style) -> Column:
    """Null for text that the type cannot hold."""
    if isinstance(kind, StringType):
        return text
    if isinstance(kind, BinaryType):
        return _bytes(text, style)
    if isinstance(kind, TimestampType):
        return sf.concat(text, sf.lit("Z")).try_cast(kind)  # UTC, whatever the session's zone
    return text.try_cast(kind)


def _unfit(texts: Mapping[str, Column], values: Mapping[str, Column]) -> Column:
    """Return column → text of the values that do not fit their types.

    Null if there are none, which is nearly always.
    """
    nothing = sf.lit(None).cast("map<string,string>")
    lost = {
        column: texts[column].isNotNull() & value.isNull()
        for column, value in values.items()
        if value is not texts[column]
    }
    if not lost:
        return nothing
    entries = sf.map_from_arrays(
        sf.array(*map(sf.lit, lost)),
        sf.array(*(sf.when(each, texts[column]) for column, each in lost.items())),
    )
    return sf.when(
        reduce(or_, lost.values()), sf.map_filter(entries, lambda _, text: text.isNotNull())
    ).otherwise(nothing)

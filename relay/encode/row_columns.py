"""The columns of one table, prepared for printing: names, printers and types in one value style.

A row image may lack columns. The texts about columns are cached for each set of present columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import orjson

from relay.encode.columns import compares_by_text
from relay.encode.sql_types import SqlType, canal_sql_type, exact_sql_type
from relay.encode.texts.named_bytes import named_bytes
from relay.encode.texts.text_canal import canal_text
from relay.encode.texts.text_exact import exact_text
from relay.model.table import TableDefinition
from relay.model.value import ABSENT, Row, Value

TextRow = tuple[str | None, ...]
Present = tuple[int, ...] | None
"""The ordinals of the columns in a row image; None: all of them."""


def present_columns(row: Row) -> Present:
    """Return which columns a row image has."""
    if ABSENT not in row:
        return None
    return tuple(ordinal for ordinal, value in enumerate(row) if value is not ABSENT)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The JSON texts about the present columns in a message."""

    mysql_type: bytes
    key_names: bytes
    sql_type: bytes


class RowColumns:
    """Prints rows of one table.

    Raises SchemaMismatch if a necessary fact about a column is unknown.
    """

    __slots__ = ("_by_text", "_columns", "_exact", "_key", "_names", "_texts", "_type_texts")

    def __init__(
        self,
        definition: TableDefinition,
        style: Literal["exact", "canal"],
        undecodable: Callable[[], None],
    ) -> None:
        columns = definition.map.columns
        self._columns = columns
        self._type_texts = definition.type_texts
        self._exact = style == "exact"
        self._names = tuple(column.name for column in columns)
        pairs = zip(columns, definition.type_texts, strict=True)
        if self._exact:
            self._texts = tuple(
                exact_text(column, type_text, undecodable) for column, type_text in pairs
            )
            self._key = definition.key
        else:
            self._texts = tuple(canal_text(column, type_text) for column, type_text in pairs)
            self._key = tuple(sorted(definition.key))
        self._by_text = tuple(not self._exact or compares_by_text(column) for column in columns)

    def data(self, row: Row, present: Present) -> bytes:
        """Return the JSON object of a row: names and texts of its present columns, for the field
        `data`.
        """
        if present is None:
            texts = [
                None if value is None else text(value)
                for text, value in zip(self._texts, row, strict=True)
            ]
            return orjson.dumps(dict(zip(self._names, texts, strict=True)))
        return orjson.dumps({self._names[ordinal]: self._text(row, ordinal) for ordinal in present})

    def changed(self, before: Row, after: Row) -> list[int]:
        """Return the columns of `after` whose value differs from `before`.

        A column that `before` lacks counts as changed.
        """
        by_text = self._by_text
        return [
            ordinal
            for ordinal, (left, right) in enumerate(zip(before, after, strict=True))
            if left is not right
            and (by_text[ordinal] or left != right)
            and self._differs(left, right, ordinal)
        ]

    def old(self, before: Row, changed: Sequence[int]) -> bytes:
        """Return the JSON object of the former values of changed columns. It has only columns that
        `before` contains.
        """
        return orjson.dumps(
            {self._names[i]: self._text(before, i) for i in changed if before[i] is not ABSENT}
        )

    def sql_types(self, row: Row) -> list[int | None]:
        """Return Canal's type numbers of one row; None for a column that the row lacks."""
        triples = zip(self._columns, self._type_texts, row, strict=True)
        return [
            None if value is ABSENT else canal_sql_type(column, type_text, value)
            for column, type_text, value in triples
        ]

    def sql_types_json(self, numbers: Sequence[int | None]) -> bytes:
        """Return the JSON object of type numbers by column name."""
        return orjson.dumps(
            {
                name: int(number)
                for name, number in zip(self._names, numbers, strict=True)
                if number is not None
            }
        )

    def facts(self, present: Present) -> ColumnFacts:
        """Return the JSON members with type names of the present columns."""
        ordinals = range(len(self._columns)) if present is None else present
        key_names = [self._names[ordinal] for ordinal in self._key if ordinal in ordinals]
        return ColumnFacts(
            mysql_type=orjson.dumps(
                {self._names[ordinal]: self._type_texts[ordinal] for ordinal in ordinals}
            ),
            key_names=orjson.dumps(key_names or None),
            sql_type=orjson.dumps(
                {self._names[ordinal]: int(self._sql_type(ordinal)) for ordinal in ordinals}
            ),
        )

    def _sql_type(self, ordinal: int) -> SqlType:
        named = (
            self._exact
            and named_bytes(self._columns[ordinal], self._type_texts[ordinal]) is not None
        )
        return SqlType.VARCHAR if named else exact_sql_type(self._columns[ordinal])

    def _text(self, row: Row, ordinal: int) -> str | None:
        value = row[ordinal]
        return None if value is None else self._texts[ordinal](value)

    def _differs(self, left: Value, right: Value, ordinal: int) -> bool:
        if right is ABSENT:
            return False
        if left is ABSENT or left is None or right is None or not self._by_text[ordinal]:
            return True
        if (
            type(left) is float and left and left == right
        ):  # 0.0 and -0.0 are equal too, but print differently
            return False
        text = self._texts[ordinal]
        return text(left) != text(right)

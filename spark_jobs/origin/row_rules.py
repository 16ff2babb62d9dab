"""What the rules and masks of an instance leave of the rows of a table: the relay's own functions,
put to the texts of a SELECT.

The relay decodes a value and prints it; a SELECT brings the printed text at once. So a row is a row
of texts here, and the printer of each column gives back what it is given. Numbers are read from
their texts where a condition compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from relay.model.change import Operation, RowChange
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.refine import NotPublished, Refinements, TableRefinement
from spark_jobs.config.copy import RowSettings
from spark_jobs.origin.columns import (
    BYTES,
    LABELS,
    LONG_BYTES,
    LONG_TEXTS,
    NAMED_BYTES,
    SINGLE,
    TEXTS,
    WHOLE,
    SourceColumn,
)
from spark_jobs.spark_util.identifiers import quoted

_UTF8: Final = "utf8mb4"
_BINARY: Final = "binary"
_TYPES: Final[Mapping[str, ColumnType]] = {
    **dict.fromkeys(WHOLE, ColumnType.LONGLONG),
    **dict.fromkeys(TEXTS | BYTES | NAMED_BYTES, ColumnType.VARCHAR),
    **dict.fromkeys(LONG_TEXTS | LONG_BYTES, ColumnType.LONG_BLOB),
    **dict.fromkeys(LABELS, ColumnType.ENUM),
    "json": ColumnType.JSON,
    "decimal": ColumnType.NEWDECIMAL,
    "float": ColumnType.FLOAT,
    "double": ColumnType.DOUBLE,
    "date": ColumnType.DATE,
    "time": ColumnType.TIME2,
    "datetime": ColumnType.DATETIME2,
    "timestamp": ColumnType.TIMESTAMP2,
}


class _Single(str):
    """The text of a FLOAT, which has fewer digits than its value."""

    exact: float

    @classmethod
    def of(cls, text: str, exact: str) -> "_Single":
        made = cls(text)
        made.exact = float(exact)
        return made

    def __float__(self) -> float:
        return self.exact


@dataclass(frozen=True)
class RowRules:
    """The rules and masks for one real table.

    Only what they are made of travels to an executor; there they are made anew.

    `end_of_versions` is the column that ends the version of a row, "" in a table without versions.
    """

    asked: RowSettings
    real: TableId
    logical: TableId
    columns: tuple[SourceColumn, ...]
    key_names: tuple[str, ...]
    end_of_versions: str = ""

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("asked", "real", "logical", "columns", "key_names", "end_of_versions")
        }

    @cached_property
    def refinement(self) -> TableRefinement | None:
        """What the relay makes of the settings for this table.

        None: its rows are published as they are. Raises RelayError.
        """
        return Refinements(self.asked, {}).of(self._definition, self.logical, lambda *_: str)

    @cached_property
    def published(self) -> tuple[SourceColumn, ...]:
        """The columns that messages have, with the types that they have there."""
        if self.refinement is None:
            return self.columns
        known = {column.name: column for column in self.columns}
        names = [column.name for column in self.refinement.published.map.columns]
        return tuple(
            known[name]
            if text == known[name].type_text
            else SourceColumn(name, text.partition("(")[0], text)
            for name, text in zip(names, self.refinement.published.type_texts, strict=True)
        )

    @property
    def operations(self) -> frozenset[Operation]:
        """What the source does and the rules let pass."""
        refinement = self.refinement
        return frozenset(each for each in Operation if refinement is None or refinement.takes(each))

    @property
    def hides_key(self) -> bool:
        """Whether messages name rows by other values than the source's."""
        return self.refinement is not None and any(
            self.refinement.hides(ordinal) for ordinal in self._definition.key
        )

    @property
    def decides_keys(self) -> bool:
        """Whether the key alone does not tell under which key a row is published, or whether at
        all.
        """
        return self.hides_key or (self.refinement is not None and self.refinement.conditional)

    @cached_property
    def exact_values(self) -> Sequence[str]:
        """SQL of what a row needs beside its texts: the whole value of each FLOAT, as text."""
        return [
            f"CAST({quoted(self.columns[ordinal].name)} + 0E0 AS CHAR)" for ordinal in self._singles
        ]

    def of_row(self, texts: Sequence[str | None]) -> list[str | None] | None:
        """Return the texts of the published columns, from those of all columns and `exact_values`.

        None: the row is left out.
        """
        refinement = self.refinement
        row = list(texts[: len(self.columns)])
        for ordinal, exact in zip(self._singles, texts[len(self.columns) :], strict=True):
            text = row[ordinal]
            row[ordinal] = None if text is None or exact is None else _Single.of(text, exact)
        if refinement is None:
            return row
        made = refinement.changes(RowChange(None, tuple(row)))
        if isinstance(made, NotPublished):
            return None
        (shown,) = made
        return [_text(value) for value in refinement.shown(shown).after or ()]

    @cached_property
    def _singles(self) -> Sequence[int]:
        return [ordinal for ordinal, column in enumerate(self.columns) if column.kind == SINGLE]

    @cached_property
    def _definition(self) -> TableDefinition:
        """The table as the relay knows it, all texts in the one character set that a SELECT gives
        them in.
        """
        columns = tuple(_column(column) for column in self.columns)
        ordinals = {column.name: ordinal for ordinal, column in enumerate(columns)}
        key = tuple(ordinals[name] for name in self.key_names)
        # Keys of history rows end with it, so that messages always have the column.
        named = (*key, ordinals[self.end_of_versions]) if self.end_of_versions else key
        return TableDefinition(
            TableMap(self.real, columns, named),
            key,
            tuple(column.type_text for column in self.columns),
        )


def published_rows(rows: DataFrame, rules: RowRules) -> DataFrame:
    """Return what is published of rows whose columns are all texts, those of `RowRules.of_row`: the
    column `row`, an array of texts.
    """
    # Said to be not deterministic, so that Spark works out each row once, whoever looks at it
    # afterwards.
    of_row = sf.udf(rules.of_row, "array<string>").asNondeterministic()
    return rows.select(of_row(sf.array(*rows.columns)).alias("row")).where(
        sf.col("row").isNotNull()
    )


def _column(column: SourceColumn) -> Column:
    kind = _TYPES.get(column.kind, ColumnType.GEOMETRY)
    charset = (
        _BINARY
        if column.kind in BYTES | NAMED_BYTES | LONG_BYTES
        else _UTF8
        if column.kind in TEXTS
        else None
    )
    return Column(column.name, kind, nullable=True, charset=charset)


def _text(value: Any) -> str | None:
    """What a mask makes is bytes, all else the text that was given."""
    return value.decode() if isinstance(value, bytes) else None if value is None else str(value)

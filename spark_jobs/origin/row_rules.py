"""Applies the rules and masks of an instance to the texts of a SELECT, with the relay's own
functions.

The relay decodes a value and prints it as text; a SELECT already returns the text. So a row
consists of texts here, and the function that prints a column returns its input. A text is converted
to a number only if a condition compares it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from relay.model.change import Operation, RowChange
from relay.model.number_form import single_text
from relay.model.source_rows.columns import (
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
from relay.model.source_rows.texts import single_value, whole_single
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.refine import NotPublished, Refinements, TableRefinement
from spark_jobs.config.copy import RowSettings

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
        made.exact = single_value(exact)
        return made

    def __float__(self) -> float:
        return self.exact


@dataclass(frozen=True)
class RowRules:
    """The rules and masks for one real table.

    Only the settings are sent to an executor, which builds the rules from them again.

    asked            the settings of rules, masks and transforms
    logical          the logical name of the real table `real`
    columns          the columns at the source, of which `key_names` form the key
    end_of_versions  the column that ends the version of a row; "" in a table without versions
    lossless_keys    whether message keys have all digits of a FLOAT (ADR 47)
    """

    asked: RowSettings
    real: TableId
    logical: TableId
    columns: tuple[SourceColumn, ...]
    key_names: tuple[str, ...]
    end_of_versions: str = ""
    lossless_keys: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def refinement(self) -> TableRefinement | None:
        """Return the relay's refinement for this table; None: its rows are published unchanged.

        Raises RelayError if a rule or mask does not fit the table.
        """
        return Refinements(self.asked, {}).of(
            self._definition,
            self.logical,
            lambda *_: str,
            lambda *_: _whole_text if self.lossless_keys else str,
        )

    @cached_property
    def published(self) -> tuple[SourceColumn, ...]:
        """The columns in messages, with their types in messages."""
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
        """The operations that the instance publishes: those that the source has and the rules
        accept.
        """
        refinement = self.refinement
        return frozenset(each for each in Operation if refinement is None or refinement.takes(each))

    @property
    def hides_key(self) -> bool:
        """Whether a mask changes key values, so that messages have other keys than the source."""
        return self.refinement is not None and any(
            self.refinement.hides(ordinal) for ordinal in self._definition.key
        )

    @property
    def decides_keys(self) -> bool:
        """Whether the key columns alone do not determine if a row is published or which key its
        message has.
        """
        return self.hides_key or (self.refinement is not None and self.refinement.conditional)

    @cached_property
    def exact_values(self) -> Sequence[str]:
        """Return SQL expressions that a query must select in addition: the exact value of each
        FLOAT as text.
        """
        return [whole_single(self.columns[ordinal]) for ordinal in self._singles]

    @cached_property
    def longer_in_key(self) -> tuple[str, ...]:
        """The FLOAT columns of the key that have more digits in message keys than in the row.

        A masked column is not among them: its hash is the same in both.
        """
        if not self.lossless_keys:
            return ()
        refinement, known = self.refinement, {column.name: column for column in self.columns}
        return tuple(
            name
            for ordinal, name in zip(self._definition.key, self.key_names, strict=True)
            if known[name].kind == SINGLE
            and not (refinement is not None and refinement.hides(ordinal))
        )

    def of_row(self, texts: Sequence[str | None]) -> list[str | None] | None:
        """Return the published texts of a row; None if the rules filter the row.

        texts  the texts of all columns, then those of `exact_values`

        The result has the texts of the published columns, then the texts of `longer_in_key` as
        message keys have them.
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
        texts = [_text(value) for value in refinement.shown(shown).after or ()]
        names = [column.name for column in self.columns]
        return [*texts, *(_whole_text(row[names.index(name)]) for name in self.longer_in_key)]

    @cached_property
    def _singles(self) -> Sequence[int]:
        return [ordinal for ordinal, column in enumerate(self.columns) if column.kind == SINGLE]

    @cached_property
    def _definition(self) -> TableDefinition:
        """Return the table as the relay describes it, with all texts in the character set of the
        SELECT.
        """
        columns = tuple(_column(column) for column in self.columns)
        ordinals = {column.name: ordinal for ordinal, column in enumerate(columns)}
        key = tuple(ordinals[name] for name in self.key_names)
        # Keys of history rows contain it as the last part, so messages always have the column.
        named = (*key, ordinals[self.end_of_versions]) if self.end_of_versions else key
        return TableDefinition(
            TableMap(self.real, columns, named),
            key,
            tuple(column.type_text for column in self.columns),
        )


def published_rows(rows: DataFrame, rules: RowRules) -> DataFrame:
    """Return the published rows of `rows`, in the column `row`, an array of texts as
    `RowRules.of_row` returns.

    All columns of `rows` must be texts, in the order of the input of `RowRules.of_row`.
    """
    # Declared as nondeterministic, so that Spark evaluates it once for each row, also if several
    # steps use the result.
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
    """Return the text of a value; a mask's result is bytes."""
    return value.decode() if isinstance(value, bytes) else None if value is None else str(value)


def _whole_text(value: Any) -> str:
    """The text of a key column whose texts differ where its values do."""
    return single_text(value.exact) if isinstance(value, _Single) else str(value)

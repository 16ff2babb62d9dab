"""What a table map leaves out of a column's type and its printed text shows: the decimals of FLOAT(M,D), the zeros of ZEROFILL."""

import re
from typing import Final

from relay.model.table import Column, ColumnType, TableMap

_FLOATS: Final = frozenset({ColumnType.FLOAT, ColumnType.DOUBLE})
_INTEGERS: Final = frozenset({ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG})
_DECIMALS: Final = frozenset({ColumnType.DECIMAL, ColumnType.NEWDECIMAL})
_FLOAT_WITH_DECIMALS: Final = re.compile(r"(float|double|real)(?: precision)?\s*\(\s*\d+\s*,\s*\d+\s*\)", re.IGNORECASE)
_ZEROFILL: Final = re.compile(r"(tinyint|smallint|mediumint|int|integer|bigint|decimal|numeric)\b.*\bzerofill", re.IGNORECASE)


def may_be_refined(table: TableMap) -> bool:
    """Say whether some column's text may depend on what the map leaves out; ZEROFILL makes a column unsigned."""
    return any(column.type in _FLOATS or (column.unsigned and column.type in _INTEGERS | _DECIMALS) for column in table.columns)


def refined_texts(table: TableMap, texts: tuple[str, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """Return `texts` with those of `declared` (in column order) that say more about the same kind of column."""
    return tuple(
        more.lower() if _says_more(column, more) else text for column, text, more in zip(table.columns, texts, declared, strict=True)
    )


def _says_more(column: Column, declared: str) -> bool:
    if column.type in _FLOATS:
        found = _FLOAT_WITH_DECIMALS.match(declared)
        return found is not None and (found[1].lower() == "float") == (column.type is ColumnType.FLOAT)
    return column.unsigned and column.type in _INTEGERS | _DECIMALS and _ZEROFILL.match(declared) is not None

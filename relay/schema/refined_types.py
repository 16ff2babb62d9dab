"""Adds facts about column types that table maps lack: the decimals of FLOAT(M,D), ZEROFILL, and
whether bytes are MariaDB's UUID, INET6 or INET4.
"""

import re
from typing import Final

from relay.model.column_families import BYTES_OF_NAMED, DECIMALS, FLOATS, INTEGERS
from relay.model.table import Column, ColumnType, TableMap

_FLOAT_WITH_DECIMALS: Final = re.compile(
    r"(float|double|real)(?: precision)?\s*\(\s*\d+\s*,\s*\d+\s*\)", re.IGNORECASE
)
_ZEROFILL: Final = re.compile(
    r"(tinyint|smallint|mediumint|int|integer|bigint|decimal|numeric)\b.*\bzerofill", re.IGNORECASE
)


def may_be_refined(table: TableMap) -> bool:
    """Return whether the type text of a column may depend on facts that the table map lacks.

    ZEROFILL makes a column unsigned, so a signed number never has it.
    """
    return any(
        column.type in FLOATS
        or (column.unsigned and column.type in INTEGERS | DECIMALS)
        or _may_have_a_name(column)
        for column in table.columns
    )


def refined_texts(
    table: TableMap, texts: tuple[str, ...], declared: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the type texts of the columns, in column order.

    texts     type texts that follow from the table map
    declared  type texts from statements or the catalogue. A declared text is used if it has the
              same kind as the text in `texts` and says more
    """
    return tuple(
        more.lower() if _says_more(column, more) else text
        for column, text, more in zip(table.columns, texts, declared, strict=True)
    )


def _may_have_a_name(column: Column) -> bool:
    return (
        column.type is ColumnType.STRING
        and column.charset == "binary"
        and column.length in BYTES_OF_NAMED.values()
    )


def _says_more(column: Column, declared: str) -> bool:
    if _may_have_a_name(column):
        return BYTES_OF_NAMED.get(declared.lower()) == column.length
    if column.type in FLOATS:
        found = _FLOAT_WITH_DECIMALS.match(declared)
        return found is not None and (found[1].lower() == "float") == (
            column.type is ColumnType.FLOAT
        )
    return (
        column.unsigned
        and column.type in INTEGERS | DECIMALS
        and _ZEROFILL.match(declared) is not None
    )

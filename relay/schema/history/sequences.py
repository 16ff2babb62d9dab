"""The columns of MariaDB's sequences, which no statement names (MariaDB: sql_sequence.cc)."""

from dataclasses import replace
from typing import Final

from relay.schema.history.columns.column_definition import typed
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.sql.token_cursor import TokenCursor

_VALUES: Final = ("next_not_cached_value", "minimum_value", "maximum_value", "start_value")
"""Columns whose type `CREATE SEQUENCE … AS` names (MariaDB 11.5 and later)."""
_OTHERS: Final = (
    DescribedColumn("increment", "bigint", nullable=False),
    DescribedColumn("cache_size", "bigint", nullable=False, unsigned=True),
    DescribedColumn("cycle_option", "tinyint", nullable=False, unsigned=True),
    DescribedColumn("cycle_count", "bigint", nullable=False),
)
_USUAL: Final = DescribedColumn("", "bigint", nullable=False)


def sequence(cursor: TokenCursor, charset: str | None) -> DescribedTable:
    """Return the table in which the server stores a sequence. The cursor is after the name in
    CREATE SEQUENCE.
    """
    value = value_type(cursor) or _USUAL
    return DescribedTable(
        (*(replace(value, name=name) for name in _VALUES), *_OTHERS), (), charset, ()
    )


def altered_sequence(table: DescribedTable, cursor: TokenCursor) -> DescribedTable:
    """Return the table of a sequence after an ALTER SEQUENCE. The cursor is after its name."""
    value = value_type(cursor)
    if value is None:
        return table
    columns = tuple(
        replace(value, name=column.name) if column.name in _VALUES else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def is_sequence(table: DescribedTable) -> bool:
    """Return whether the table has the columns of a sequence."""
    return tuple(column.name for column in table.columns) == (
        *_VALUES,
        *(column.name for column in _OTHERS),
    )


def value_type(cursor: TokenCursor) -> DescribedColumn | None:
    """Return the type after AS in the options of a sequence, as a column without a name; None
    without AS. The cursor is before the options.
    """
    found = typed("", cursor, None) if cursor.skip_to("AS") else None
    return replace(found.column, nullable=False) if found is not None else None

"""The period columns of MariaDB's system versioning, and their effect on a described table and its
keys. Pure.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable

_VERSION_COLUMNS: Final = tuple(
    DescribedColumn(name, "timestamp", (6,), nullable=False, visible=False)
    for name in ("row_start", "row_end")
)
HIDDEN_PERIOD: Final = tuple(column.name for column in _VERSION_COLUMNS)
"""Names of the two period columns if no statement declares them."""


def with_key(table: DescribedTable, names: tuple[str, ...]) -> DescribedTable:
    """Return the table with this primary key, whose columns cannot be NULL."""
    names = _with_end_of_version(table, names)
    return replace(without_nulls(table, names), primary_key=names)


def without_nulls(table: DescribedTable, names: Collection[str]) -> DescribedTable:
    """Return the table, in which columns of these names cannot be NULL."""
    wanted = {name.lower() for name in names}
    columns = tuple(
        replace(column, nullable=False) if column.name.lower() in wanted else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _with_end_of_version(table: DescribedTable, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of a key with the column that ends a version.

    MariaDB adds it, so that several versions of a row have different keys.
    """
    end = _VERSION_COLUMNS[-1].name
    versioned = has_versions(table)
    if not versioned and table.ordinal(end) is not None:
        return names  # a column that the user declared
    if versioned and any(name.lower() == end for name in names):
        return names
    key = tuple(name for name in names if name.lower() != end)
    return (*key, end) if key and versioned else key


def has_versions(table: DescribedTable) -> bool:
    """Return whether the table has period columns that no statement declared."""
    return (
        tuple(replace(column, nullable=False) for column in table.columns[-len(_VERSION_COLUMNS) :])
        == _VERSION_COLUMNS
    )


def with_versions(table: DescribedTable) -> DescribedTable:
    """Return a MariaDB table with the two period columns of system versioning, which statements
    need not name.
    """
    if any(table.ordinal(column.name) is not None for column in _VERSION_COLUMNS):
        return table
    return replace(table, columns=(*table.columns, *_VERSION_COLUMNS))


def without_versions(table: DescribedTable) -> DescribedTable:
    """Return the table without the period columns of system versioning."""
    names = {column.name for column in _VERSION_COLUMNS}
    return replace(
        table, columns=tuple(column for column in table.columns if column.name not in names)
    )


def with_end_of_versions(table: DescribedTable) -> DescribedTable:
    """Return the table with the column `row_end` in its unique keys if it is versioned, and without
    it otherwise.

    MariaDB adds this column to the unique keys of a versioned table. In a table that is not
    versioned, a user's own column `row_end` stays in the keys.
    """
    if table.indexes is None:
        return table
    return replace(
        table,
        indexes=tuple(
            _with_end(table, index) if index.unique else index for index in table.indexes
        ),
    )


def _with_end(table: DescribedTable, index: DescribedIndex) -> DescribedIndex:
    columns = _with_end_of_version(table, index.columns)
    prefixes = (*index.prefixes, 0, 0)[: len(columns)] if index.prefixes else ()
    return replace(index, columns=columns, prefixes=prefixes)

"""Finds the column that ends the versions of rows in a MariaDB table, and the keys of current rows
and of history rows.

A table map shows neither. Sources: the binlogs of MariaDB 10.5, 10.11 and 11.4; MariaDB manual,
System-Versioned Tables.
"""

from dataclasses import replace
from typing import Final

from relay.model.table import Column, ColumnType, KeyKind, RowVersions, TableDefinition, TableMap
from relay.schema.catalog.catalog_queries import ROW_END, CatalogVersions

HIDDEN_NAMES: Final = ("row_start", ROW_END)
"""The period columns that MariaDB adds if the table's statement names none. No catalogue shows
them.
"""
HIDDEN_TYPE: Final = "timestamp(6)"
_DIGITS: Final = 6


def may_have_versions(table: TableMap) -> bool:
    """Return whether a table has two columns that may be the period columns of system versioning.
    Few other tables do.
    """
    return sum(map(_is_time, table.columns)) >= len(HIDDEN_NAMES)


def is_known_to_have_versions(table: TableMap) -> bool:
    """Return whether the table has hidden period columns according to the schema history."""
    return (
        table.key_kind is not KeyKind.EITHER
        and _ends_like_hidden(table)
        and not any(each.visible for each in table.columns[-2:])
    )


def end_of_versions(table: TableMap, found: CatalogVersions | None) -> int | None:
    """Return the ordinal of the column that ends a version; None for a table without system
    versioning.

    `found` is what the catalogue shows now, which may be later than the table map; None: the table
    does not exist. If the catalogue does not decide, hidden columns are recognised by name, type
    and position. Declared ones are then not recognised.
    """
    if is_known_to_have_versions(table) or (
        _ends_like_hidden(table) and (found is None or _is_gone(found))
    ):
        return len(table.columns) - 1
    if found is None or not found.end:
        return None
    names = [column.name.lower() for column in table.columns]
    shown = [name.lower() for name in found.columns]
    end = found.end.lower()
    # A column that was renamed after the table map was written keeps its ordinal.
    at = (
        names.index(end)
        if end in names
        else shown.index(end)
        if end in shown and len(shown) == len(names)
        else None
    )
    return at if at is not None and _may_end(table, at) else None


def has_hidden_times(table: TableMap, end: int | None) -> bool:
    """Return whether the last two columns are hidden period columns.

    `end` is the ordinal of the column that ends a version, None for a table without system
    versioning.
    """
    return end == len(table.columns) - 1 and _ends_like_hidden(table)


def with_versions(definition: TableDefinition, end: int) -> TableDefinition:
    """Return the table with the key of its current rows, and with `versions`. `end` is the ordinal
    of the column that ends a version.

    All current rows have the same end, so it is not in their key. It is in the key of a history
    row, which therefore never equals the key of a current row.
    """
    full = definition.key
    current = tuple(ordinal for ordinal in full if ordinal != end)
    history = full if end in full else (*full, end) if full else ()
    return replace(definition, key=current, versions=RowVersions(end, history if current else ()))


def _is_time(column: Column) -> bool:
    return column.type is ColumnType.TIMESTAMP2 and column.length == _DIGITS and not column.nullable


def _ends_like_hidden(table: TableMap) -> bool:
    last = table.columns[-len(HIDDEN_NAMES) :]
    return tuple(column.name for column in last) == HIDDEN_NAMES and _may_end(
        table, len(table.columns) - 1
    )


def _may_end(table: TableMap, at: int) -> bool:
    """Return whether a column may be the one that ends versions.

    MariaDB adds that column, or the one that begins a version, to each unique key.
    """
    times = {ordinal for ordinal, column in enumerate(table.columns) if _is_time(column)}
    return (
        at in times
        and len(times) >= len(HIDDEN_NAMES)
        and (not table.primary_key or bool(times.intersection(table.primary_key)))
    )


def _is_gone(found: CatalogVersions) -> bool:
    """Return whether hidden columns were removed since the table map was written: the table has no
    such columns now.

    It may have become versioned again, with period columns that its statement declares.
    """
    return bool(found.columns) and ROW_END not in (name.lower() for name in found.columns)

"""Computes a described table after the parsed changes of an ALTER TABLE. Pure.

Changes are applied in the order of the servers (mysql-server and MariaDB:
mysql_prepare_alter_table). First existing columns are dropped and changed. Then columns are added
and moved in the order of the statement.
"""

from dataclasses import replace
from typing import Final

from relay.schema.history.alter.table_alterations import TableAlterations
from relay.schema.history.column_words import CHARACTER_KINDS, LONGEST_CHARACTER, TEXTS, WIDE
from relay.schema.history.columns.column_definition import Definition
from relay.schema.history.columns.column_form import NotFollowed, labels_in, of_charset, sized
from relay.schema.history.described import DescribedColumn, DescribedIndex, DescribedTable
from relay.schema.history.indexes.altered_indexes import altered_indexes
from relay.schema.history.indexes.index_order import BeforePrimaryKey
from relay.schema.history.system_versions import (
    has_versions,
    with_end_of_versions,
    with_key,
    with_versions,
    without_nulls,
    without_versions,
)

_GENERATED_KEY: Final = "my_row_id"
"""The column of MySQL's generated invisible primary keys (mysql-server: sql_gipk.cc)."""


def altered_table(table: DescribedTable, changes: TableAlterations) -> DescribedTable:
    """Return the table after the changes. Raises NotFollowed if the result is not certain."""
    if changes.mariadb and changes.primary_key and _may_declare_versions(table):
        raise NotFollowed(
            "a column may be declared AS ROW END, which MariaDB would add to the primary key"
        )
    versioned = has_versions(table)
    result = replace(table, columns=_columns_after(table, changes), charset=changes.charset)
    if versioned if changes.versioned is None else changes.versioned:
        result = with_versions(result)
    before = BeforePrimaryKey(result.columns, changes.primary_at) if changes.primary_key else None
    result = with_key(without_nulls(result, changes.period), _key_after(table, changes))
    indexes = _indexes_after(table, changes, result, before)
    return with_end_of_versions(replace(result, indexes=indexes))


def _columns_after(table: DescribedTable, changes: TableAlterations) -> tuple[DescribedColumn, ...]:
    """Return the columns after the changes, without the period columns of system versioning, which
    are always the last.
    """
    columns: list[DescribedColumn] = []
    for column in (without_versions(table) if has_versions(table) else table).columns:
        name = column.name.lower()
        found = changes.changed.get(name)
        if name in changes.dropped or (found is not None and found.position):
            continue
        columns.append(found.column if found is not None else _touched(column, changes))
    for found in changes.placed:
        _insert(columns, found)
    if not changes.mariadb and _has_generated_key(table):
        # MySQL moves the generated key back to the first place. The sort keeps the order of the
        # others.
        columns.sort(key=lambda column: column.name.lower() != _GENERATED_KEY)
    return tuple(columns)


def _indexes_after(
    table: DescribedTable,
    changes: TableAlterations,
    result: DescribedTable,
    before: BeforePrimaryKey | None,
) -> tuple[DescribedIndex, ...] | None:
    """Return the indexes of `result`, the table after the changes; None if they are not certain."""
    new_names = {
        name: None if name in changes.dropped else _new_name(column.name, changes)
        for name, column in _by_name(table).items()
    }
    changes.indexes.mariadb = changes.mariadb
    indexes = altered_indexes(table.indexes, changes.indexes, new_names, result, before)
    added_unique = any(key.word == "UNIQUE" for key in changes.indexes.added)
    if changes.keys_in_doubt or (changes.mariadb and added_unique and _may_declare_versions(table)):
        return None  # in the second case the keys may end with a declared time of versions
    return indexes


def _by_name(table: DescribedTable) -> dict[str, DescribedColumn]:
    return {column.name.lower(): column for column in table.columns}


def _may_declare_versions(table: DescribedTable) -> bool:
    """Return whether a column may have been declared AS ROW END. MariaDB adds such a column to the
    primary key.
    """
    times = [
        column
        for column in table.columns
        if (column.kind, column.measures, column.nullable) == ("timestamp", (6,), False)
    ]
    return len(times) > 1 and not has_versions(table)


def _has_generated_key(table: DescribedTable) -> bool:
    """Return whether MySQL treats the first column as a generated invisible primary key.

    The session's settings have no effect on this.
    """
    first = table.columns[0] if table.columns else None
    return (
        first is not None
        and (first.name.lower(), first.kind, first.unsigned, first.visible)
        == (_GENERATED_KEY, "bigint", True, False)
        and [name.lower() for name in table.primary_key] == [_GENERATED_KEY]
    )


def _touched(column: DescribedColumn, changes: TableAlterations) -> DescribedColumn:
    """Return a column that the statement does not redefine, with its new name, visibility and
    character set.
    """
    name = column.name.lower()
    column = replace(
        column,
        name=changes.renamed.get(name, column.name),
        visible=not changes.hidden.get(name, not column.visible),
    )
    return column if changes.converted is None else _converted(column, changes.converted)


def _converted(column: DescribedColumn, charset: str) -> DescribedColumn:
    """Apply CONVERT TO CHARACTER SET: text types grow to the size that their characters may
    need.
    """
    if column.kind not in CHARACTER_KINDS or column.charset == "binary":
        return column
    wider = LONGEST_CHARACTER.get(charset, 1) > LONGEST_CHARACTER.get(column.charset or "", 1)
    if wider and column.kind in TEXTS:
        column = replace(column, kind=TEXTS[min(TEXTS.index(column.kind) + 1, len(TEXTS) - 1)])
    if column.labels and charset != column.charset and not _same_bytes(column, charset):
        raise NotFollowed(
            f"the labels of {column.name!r} keep their bytes in another character set"
        )
    return sized(of_charset(replace(column, labels=labels_in(column.labels, charset)), charset))


def _same_bytes(column: DescribedColumn, charset: str) -> bool:
    """Return whether the bytes of a column's labels mean the same text in this character set,
    because servers do not convert labels.
    """
    if (column.charset, charset) == ("utf8mb3", "utf8mb4"):
        return True
    return not {column.charset, charset} & WIDE and all(label.isascii() for label in column.labels)


def _insert(columns: list[DescribedColumn], found: Definition) -> None:
    if any(column.name.lower() == found.column.name.lower() for column in columns):
        raise NotFollowed(f"it adds column {found.column.name!r}, which the table has already")
    if found.position == "FIRST":
        columns.insert(0, found.column)
    elif found.position == "AFTER":
        at = next(
            (at for at, column in enumerate(columns) if column.name.lower() == found.after.lower()),
            None,
        )
        if at is None:
            raise NotFollowed(f"it puts a column after {found.after!r}, a column that is not known")
        columns.insert(at + 1, found.column)
    else:
        columns.append(found.column)


def _key_after(table: DescribedTable, changes: TableAlterations) -> tuple[str, ...]:
    """Return the column names of the primary key: those of a new key, otherwise those of the old
    key under their new names.
    """
    if changes.primary_key is not None:
        return changes.primary_key
    kept = [name for name in table.primary_key if name.lower() not in changes.dropped]
    return tuple(_new_name(name, changes) for name in kept)


def _new_name(name: str, changes: TableAlterations) -> str:
    found = changes.changed.get(name.lower())
    return found.column.name if found is not None else changes.renamed.get(name.lower(), name)

"""Parses the items of an ALTER TABLE into TableAlterations. It does not change the table."""

from dataclasses import replace
from typing import Final

from relay.schema.history.alter.table_alterations import TableAlterations, require_known
from relay.schema.history.column_words import BYTE_KINDS, TEXTS
from relay.schema.history.columns.column_definition import Definition, column_definition
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.indexes.key_definitions import key_definition
from relay.schema.history.table_elements import period_columns
from relay.schema.sql.token_cursor import TokenCursor

_NO_COLUMN: Final = frozenset(
    {
        "PRIMARY",
        "KEY",
        "INDEX",
        "UNIQUE",
        "FULLTEXT",
        "SPATIAL",
        "FOREIGN",
        "CONSTRAINT",
        "CHECK",
        "PARTITION",
    }
)
_INDEX_WORDS: Final = frozenset({"INDEX", "KEY", "CONSTRAINT"})
_NO_COLUMN_PAIRS: Final = frozenset(
    {("PERIOD", "FOR"), ("SYSTEM", "VERSIONING"), ("VECTOR", "INDEX"), ("VECTOR", "KEY")}
)
_OF_PERIODS: Final = frozenset({"date", "datetime", "timestamp"})
"""Kinds of columns that MariaDB's PERIOD FOR allows."""


def read_item(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    """Parse one item of an ALTER TABLE, and add its changes to `changes`.

    An item that is not recognised is assumed to change no column. Raises NotFollowed if the effect
    of the item is not certain.
    """
    verb = cursor.word()
    if verb in ITEM_READERS:
        cursor.take()
        ITEM_READERS[verb](cursor, table, changes)


def _speaks_of_column(cursor: TokenCursor) -> bool:
    if cursor.accept("COLUMN"):
        return True
    return (
        cursor.word() not in _NO_COLUMN and (cursor.word(), cursor.word(1)) not in _NO_COLUMN_PAIRS
    )


def _add(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    if cursor.accept("SYSTEM", "VERSIONING"):
        changes.versioned = True
    elif (period := period_columns(cursor)) is not None:
        require_known(table)
        name, changes.period = period
        if name == "SYSTEM_TIME":
            raise NotFollowed("it adds PERIOD FOR SYSTEM_TIME")
    elif not _speaks_of_column(cursor):
        _add_key(cursor, table, changes)
    else:
        optional = cursor.accept("IF", "NOT", "EXISTS")
        if cursor.accept("("):
            going_on = True
            while going_on:
                _add_element(cursor, table, changes, optional=optional)
                going_on = cursor.skip_item()
        else:
            _add_element(cursor, table, changes, optional=optional)


def _add_element(
    cursor: TokenCursor, table: DescribedTable, changes: TableAlterations, *, optional: bool
) -> None:
    if not _speaks_of_column(cursor):
        _add_key(cursor, table, changes)
        return
    found = _definition(cursor, changes)
    left_out = optional and _is_there(found.column.name, table, changes)
    changes.take_definition(found, table, optional=optional, left_out=left_out)
    if not left_out:
        changes.placed.append(found)


def _is_there(name: str, table: DescribedTable, changes: TableAlterations) -> bool:
    """Return whether the table has the column, or an earlier item of the statement defines it."""
    return table.ordinal(name) is not None or name.lower() in changes.defined


def _add_key(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    key = key_definition(cursor)
    if key is not None and key.over_period:
        raise NotFollowed("it adds a key WITHOUT OVERLAPS, and columns of periods are not stored")
    if key is not None and key.word == "PRIMARY":
        changes.take_primary_key(
            key.columns, table, optional=key.optional, at=len(changes.indexes.added)
        )
    elif key is not None:
        changes.indexes.added.append(key)


def _drop(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    if cursor.accept("PRIMARY", "KEY"):
        changes.primary_key = changes.primary_key or ()
    elif cursor.accept("SYSTEM", "VERSIONING"):
        require_known(table)
        changes.versioned = False
    elif cursor.word() in _INDEX_WORDS:
        drop_index(cursor, table, changes)
    elif _speaks_of_column(cursor):
        optional = cursor.accept("IF", "EXISTS")
        name = cursor.name() or ""
        if table.ordinal(name) is not None:
            changes.dropped.add(name.lower())
        else:
            _must_be_optional(optional, table, f"it drops {name!r}, a column that is not known")


def drop_index(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    """Parse INDEX, KEY or CONSTRAINT and a name, after DROP, and add the dropped index to
    `changes`.
    """
    constraint = cursor.word() == "CONSTRAINT"
    cursor.take()
    optional = cursor.accept("IF", "EXISTS")
    name = (cursor.name() or "").lower()
    known = {index.name.lower() for index in table.indexes or ()}
    if name == "primary":
        changes.primary_key = changes.primary_key or ()
    elif constraint and table.columns:
        changes.indexes.constraints.add(name)
    elif not optional or name in known or not table.columns:
        changes.indexes.dropped.add(name)


def _must_be_optional(optional: bool, table: DescribedTable, otherwise: str) -> None:
    """Do nothing if an item about a missing column may be ignored: it has IF EXISTS, and the
    columns of the table are known. Otherwise raise NotFollowed with the reason `otherwise`.
    """
    if not optional:
        raise NotFollowed(otherwise)
    require_known(table)


def _modify(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    cursor.accept("COLUMN")
    optional = cursor.accept("IF", "EXISTS")
    found = _definition(cursor, changes)
    _change(found.column.name, found, table, changes, optional=optional)


def _change_item(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    cursor.accept("COLUMN")
    optional = cursor.accept("IF", "EXISTS")
    old = cursor.name() or ""
    _change(old, _definition(cursor, changes), table, changes, optional=optional)


def _change(
    old: str, found: Definition, table: DescribedTable, changes: TableAlterations, *, optional: bool
) -> None:
    at = table.ordinal(old)
    if at is not None:
        if (
            changes.mariadb
            and table.columns[at].nullable is False
            and found.column.nullable
            and found.column.kind in _OF_PERIODS
        ):
            # A column of a period stays NOT NULL in any case, and periods are not stored.
            found.column = replace(found.column, nullable=None)
        if table.columns[at].kind in ("enum", "set") and found.column.kind not in ("enum", "set"):
            changes.indexes.retyped.add(found.column.name.lower())
        changes.changed[old.lower()] = found
        if (
            changes.converted is not None
            and not changes.mariadb
            and found.column.kind in {*TEXTS, *BYTE_KINDS}
        ):
            raise NotFollowed(f"it changes column {old!r} and also converts its character set")
        changes.placed += [found] if found.position else []
    else:
        _must_be_optional(optional, table, f"it changes {old!r}, a column that is not known")
        if found.primary or found.unique:
            raise NotFollowed(
                f"column {old!r} does not exist, and some releases add its key nevertheless"
            )
    changes.take_definition(found, table, optional=optional, left_out=at is None)


def _rename(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    if cursor.accept("INDEX") or cursor.accept("KEY"):
        _rename_index(cursor, table, changes)
        return
    if not cursor.accept("COLUMN"):
        return  # the default of the table
    optional = cursor.accept("IF", "EXISTS")
    old = cursor.name() or ""
    new = cursor.name() if cursor.accept("TO") else None
    if new is not None and table.ordinal(old) is not None:
        changes.renamed[old.lower()] = new
    else:
        _must_be_optional(optional, table, f"it renames {old!r}, a column that is not known")


def _rename_index(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    optional = cursor.accept("IF", "EXISTS")
    old = (cursor.name() or "").lower()
    known = {index.name.lower() for index in table.indexes or ()}
    if cursor.accept("TO") and (not optional or old in known or not table.columns):
        changes.indexes.renamed[old] = cursor.name() or ""


def _alter(cursor: TokenCursor, table: DescribedTable, changes: TableAlterations) -> None:
    """Parse ALTER [COLUMN] a SET INVISIBLE. Changes of defaults are ignored."""
    if cursor.word() in ("INDEX", "KEY", "CONSTRAINT", "CHECK"):
        return
    cursor.accept("COLUMN")
    name = (cursor.name() or "").lower()
    if cursor.accept("SET") and cursor.word() in ("VISIBLE", "INVISIBLE"):
        require_known(table)
        changes.hidden[name] = cursor.word() == "INVISIBLE"


ITEM_READERS: Final = {
    "ADD": _add,
    "DROP": _drop,
    "MODIFY": _modify,
    "CHANGE": _change_item,
    "RENAME": _rename,
    "ALTER": _alter,
}


def _definition(cursor: TokenCursor, changes: TableAlterations) -> Definition:
    found = column_definition(
        cursor, changes.charset, mariadb=changes.mariadb, converted=changes.converted
    )
    if found is None:
        raise NotFollowed("a column's definition could not be read")
    return found

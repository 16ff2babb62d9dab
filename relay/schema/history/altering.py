"""ALTER TABLE's items → what becomes of the table's columns, in the order in which servers apply them.

A server first goes through the columns that are there, dropping and changing them in their places, and then through those that are
added or moved, in the order of the statement (mysql-server and MariaDB: mysql_prepare_alter_table).
"""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.schema.history.column_definition import Definition, column_definition, of_charset
from relay.schema.history.column_words import CHARACTER_KINDS, LONGEST_CHARACTER, TEXTS
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.elements import has_versions, key_columns, option_charset, with_key, with_versions, without_versions
from relay.schema.token_cursor import TokenCursor

_NO_COLUMN: Final = frozenset({"PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "FOREIGN", "CONSTRAINT", "CHECK", "PARTITION"})
_NO_COLUMN_PAIRS: Final = frozenset({("PERIOD", "FOR"), ("SYSTEM", "VERSIONING"), ("VECTOR", "INDEX"), ("VECTOR", "KEY")})


class NotFollowed(Exception):
    """An item says something of columns that could not be applied; `args[0]` says what."""


@dataclass(slots=True)
class _Changes:
    """What a statement does: `dropped` and `changed` by the old names in lower case, `added` in order."""

    charset: str | None
    mariadb: bool
    dropped: set[str] = field(default_factory=set)
    changed: dict[str, Definition] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)
    added: list[Definition] = field(default_factory=list)
    primary_key: tuple[str, ...] | None = None
    converted: str | None = None
    versioned: bool | None = None


def altered(table: DescribedTable, cursor: TokenCursor, *, mariadb: bool) -> DescribedTable:
    """Apply the items behind ALTER TABLE's name. Raises NotFollowed."""
    changes = _Changes(_new_charset(cursor.copy()) or table.charset, mariadb)
    going_on = True
    while going_on:
        _read_item(cursor, table, changes)
        going_on = cursor.skip_item()
    return _applied(table, changes)


def _new_charset(cursor: TokenCursor) -> str | None:
    """The character set that the statement gives to columns without one, wherever among its items it is named."""
    charset: str | None = None
    going_on = True
    while going_on:
        if cursor.word() not in _READERS:
            charset = _options_charset(cursor) or charset
        going_on = cursor.skip_item()
    return charset


def _options_charset(cursor: TokenCursor) -> str | None:
    """Read table options, or CONVERT TO, up to the next comma or bracket."""
    charset: str | None = None
    while cursor.token is not None and cursor.word() not in (",", "("):
        charset = option_charset(cursor) or charset
    return charset


def _read_item(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    verb = cursor.word()
    if verb in _READERS:
        cursor.take()
        _READERS[verb](cursor, table, changes)
    elif cursor.accept("CONVERT", "TO"):
        changes.converted = _options_charset(cursor)


def _speaks_of_column(cursor: TokenCursor) -> bool:
    if cursor.accept("COLUMN"):
        return True
    return cursor.word() not in _NO_COLUMN and (cursor.word(), cursor.word(1)) not in _NO_COLUMN_PAIRS


def _add(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if cursor.accept("SYSTEM", "VERSIONING"):
        changes.versioned = True
    elif not _speaks_of_column(cursor):
        _add_key(cursor, changes)
    else:
        optional = cursor.accept("IF", "NOT", "EXISTS")
        if cursor.accept("("):
            going_on = True
            while going_on:
                _add_element(cursor, table, changes, optional=optional)
                going_on = cursor.skip_item()
        else:
            _add_element(cursor, table, changes, optional=optional)


def _add_element(cursor: TokenCursor, table: DescribedTable, changes: _Changes, *, optional: bool) -> None:
    if not _speaks_of_column(cursor):
        _add_key(cursor, changes)
        return
    found = _definition(cursor, changes)
    if optional and table.ordinal(found.column.name) is not None:
        return
    changes.added.append(found)


def _add_key(cursor: TokenCursor, changes: _Changes) -> None:
    if cursor.accept("CONSTRAINT") and cursor.word() != "PRIMARY":
        cursor.take()
    if cursor.accept("PRIMARY", "KEY"):
        changes.primary_key = key_columns(cursor)


def _drop(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if cursor.accept("PRIMARY", "KEY"):
        changes.primary_key = changes.primary_key or ()
    elif cursor.accept("SYSTEM", "VERSIONING"):
        changes.versioned = False
    elif _speaks_of_column(cursor):
        optional = cursor.accept("IF", "EXISTS")
        name = cursor.name() or ""
        if table.ordinal(name) is not None:
            changes.dropped.add(name.lower())
        elif not optional:
            raise NotFollowed(f"it drops {name!r}, a column that is not known")


def _modify(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    cursor.accept("COLUMN")
    optional = cursor.accept("IF", "EXISTS")
    found = _definition(cursor, changes)
    _change(found.column.name, found, table, changes, optional=optional)


def _change_item(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    cursor.accept("COLUMN")
    optional = cursor.accept("IF", "EXISTS")
    old = cursor.name() or ""
    _change(old, _definition(cursor, changes), table, changes, optional=optional)


def _change(old: str, found: Definition, table: DescribedTable, changes: _Changes, *, optional: bool) -> None:
    if table.ordinal(old) is not None:
        changes.changed[old.lower()] = found
    elif not optional:
        raise NotFollowed(f"it changes {old!r}, a column that is not known")


def _rename(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if not cursor.accept("COLUMN"):
        return  # of the table, or of an index
    optional = cursor.accept("IF", "EXISTS")
    old = cursor.name() or ""
    new = cursor.name() if cursor.accept("TO") else None
    if new is not None and table.ordinal(old) is not None:
        changes.renamed[old.lower()] = new
    elif not optional:
        raise NotFollowed(f"it renames {old!r}, a column that is not known")


def _alter(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    """ALTER [COLUMN] a SET INVISIBLE; defaults are of no concern."""
    if cursor.word() in ("INDEX", "KEY", "CONSTRAINT", "CHECK"):
        return
    cursor.accept("COLUMN")
    name = (cursor.name() or "").lower()
    if cursor.accept("SET") and cursor.word() in ("VISIBLE", "INVISIBLE") and table.ordinal(name) is not None:
        changes.hidden[name] = cursor.word() == "INVISIBLE"


_READERS: Final = {"ADD": _add, "DROP": _drop, "MODIFY": _modify, "CHANGE": _change_item, "RENAME": _rename, "ALTER": _alter}


def _definition(cursor: TokenCursor, changes: _Changes) -> Definition:
    found = column_definition(cursor, changes.charset, mariadb=changes.mariadb)
    if found is None:
        raise NotFollowed("a column's definition could not be read")
    if found.primary:
        changes.primary_key = (found.column.name,)
    return found


def _applied(table: DescribedTable, changes: _Changes) -> DescribedTable:
    columns: list[DescribedColumn] = []
    versioned = has_versions(table)
    # What is added stands before the columns of the versions, which are always the last.
    for column in (without_versions(table) if versioned else table).columns:
        name = column.name.lower()
        found = changes.changed.get(name)
        if name in changes.dropped or (found is not None and found.place):
            continue
        columns.append(found.column if found is not None else _touched(column, changes))
    for found in [*(each for each in changes.changed.values() if each.place), *changes.added]:
        _insert(columns, found)
    result = replace(table, columns=tuple(columns), charset=changes.charset)
    if versioned if changes.versioned is None else changes.versioned:
        result = with_versions(result)
    return with_key(result, _key_after(table, changes))


def _touched(column: DescribedColumn, changes: _Changes) -> DescribedColumn:
    """A column that is not defined anew, with its new name and character set."""
    name = column.name.lower()
    column = replace(column, name=changes.renamed.get(name, column.name), visible=not changes.hidden.get(name, not column.visible))
    return column if changes.converted is None else _converted(column, changes.converted)


def _converted(column: DescribedColumn, charset: str) -> DescribedColumn:
    """CONVERT TO CHARACTER SET: texts become as large as their characters may need."""
    if column.kind not in CHARACTER_KINDS or column.charset == "binary":
        return column
    wider = LONGEST_CHARACTER.get(charset, 1) > LONGEST_CHARACTER.get(column.charset or "", 1)
    if wider and column.kind in TEXTS:
        column = replace(column, kind=TEXTS[min(TEXTS.index(column.kind) + 1, len(TEXTS) - 1)])
    return of_charset(column, charset)


def _insert(columns: list[DescribedColumn], found: Definition) -> None:
    if any(column.name.lower() == found.column.name.lower() for column in columns):
        raise NotFollowed(f"it adds {found.column.name!r}, a column that is there")
    if found.place == "FIRST":
        columns.insert(0, found.column)
    elif found.place == "AFTER":
        at = next((at for at, column in enumerate(columns) if column.name.lower() == found.after.lower()), None)
        if at is None:
            raise NotFollowed(f"it puts a column behind {found.after!r}, which is not known")
        columns.insert(at + 1, found.column)
    else:
        columns.append(found.column)


def _key_after(table: DescribedTable, changes: _Changes) -> tuple[str, ...]:
    """The names of the primary key's columns: a new key, else the old one under the columns' new names."""
    if changes.primary_key is not None:
        return changes.primary_key
    kept = [name for name in table.primary_key if name.lower() not in changes.dropped]
    return tuple(_new_name(name, changes) for name in kept)


def _new_name(name: str, changes: _Changes) -> str:
    found = changes.changed.get(name.lower())
    return found.column.name if found is not None else changes.renamed.get(name.lower(), name)

"""ALTER TABLE's items → what becomes of the table's columns, in the order in which servers apply
them.

A server first goes through the columns that are there, dropping and changing them in their places,
and then through those that are added or moved, in the order of the statement (mysql-server and
MariaDB: mysql_prepare_alter_table).
"""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.schema.history.column_definition import (
    Definition,
    NotFollowed,
    column_definition,
    labels_in,
    of_charset,
    sized,
)
from relay.schema.history.column_words import (
    BYTE_KINDS,
    CHARACTER_KINDS,
    LONGEST_CHARACTER,
    TEXTS,
    WIDE,
)
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.elements import (
    DEFAULT_CHARSET,
    has_versions,
    option_charset,
    period_columns,
    with_end_of_versions,
    with_key,
    with_versions,
    without_nulls,
    without_versions,
)
from relay.schema.history.indexes import (
    BeforePrimaryKey,
    IndexChanges,
    KeyDefinition,
    altered_indexes,
    key_definition,
)
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
_GENERATED_KEY: Final = "my_row_id"
"""The column of MySQL's generated invisible primary keys (mysql-server: sql_gipk.cc)."""
_OF_PERIODS: Final = frozenset({"date", "datetime", "timestamp"})
"""Kinds of the columns that MariaDB's PERIOD FOR takes."""


@dataclass(slots=True)
class _Changes:
    """What a statement does: `dropped` and `changed` by the old names in lower case.

    `placed` is added or moved, in order.
    """

    charset: str | None
    mariadb: bool
    dropped: set[str] = field(default_factory=set)
    changed: dict[str, Definition] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)
    placed: list[Definition] = field(default_factory=list)
    primary_key: tuple[str, ...] | None = None
    period: tuple[str, ...] = ()
    primary_at: int = 0
    indexes: IndexChanges = field(default_factory=IndexChanges)
    converted: str | None = None
    versioned: bool | None = None
    keys_in_doubt: bool = False
    defined: set[str] = field(default_factory=set)

    def take_definition(
        self,
        found: Definition,
        table: DescribedTable,
        *,
        optional: bool = False,
        left_out: bool = False,
    ) -> None:
        """Note the name that the definition of a column makes, and the keys that it adds.

        `optional`: the column has IF EXISTS or IF NOT EXISTS, which then hold for its keys too.
        `left_out`: MariaDB leaves the column as it is and adds its keys nevertheless.
        """
        name = found.column.name
        self.defined.add(name.lower())
        if found.primary:
            self.take_primary_key(
                (name,), table, optional=optional, at=len(self.indexes.added) if left_out else 0
            )
        self.keys_in_doubt |= self.mariadb and found.has_doubtful_key
        if found.unique:
            self.indexes.added.append(KeyDefinition("UNIQUE", "", (name,), (0,), optional))

    def take_primary_key(
        self, columns: tuple[str, ...], table: DescribedTable, *, optional: bool, at: int
    ) -> None:
        """Store the columns of the statement's primary key.

        `optional` (IF EXISTS or IF NOT EXISTS): if the table had a primary key before the
        statement, ignore the new one, even if the statement drops the old one. `at`: number of
        keys that the statement adds before the primary key. Raises NotFollowed if `optional` is
        set and the table's columns are unknown.
        """
        if optional:
            _must_be_known(table)
        if not optional or not table.primary_key:
            self.primary_key, self.primary_at = columns, at


def _must_be_known(table: DescribedTable) -> None:
    """Raise NotFollowed for a table of which nothing is known: what the item at hand does depends
    on its columns.
    """
    if not table.columns:
        raise NotFollowed("what it does depends on columns that are not known")


def altered(
    table: DescribedTable,
    cursor: TokenCursor,
    *,
    mariadb: bool,
    database_charset: str | None = None,
) -> DescribedTable:
    """Apply the items behind ALTER TABLE's name.

    `database_charset`: of the table's database. Raises NotFollowed.
    """
    charset, converted = _new_charset(cursor.copy())
    if converted == DEFAULT_CHARSET:
        raise NotFollowed("it converts to a character set that its text does not name")
    if charset == DEFAULT_CHARSET and database_charset is None:
        raise NotFollowed("it takes the character set of its database, which is not known")
    charset = database_charset if charset == DEFAULT_CHARSET else charset
    changes = _Changes(charset or table.charset, mariadb, converted=converted)
    going_on = True
    while going_on:
        _read_item(cursor, table, changes)
        going_on = cursor.skip_item()
    return _applied(table, changes)


def without_index(table: DescribedTable, cursor: TokenCursor, *, mariadb: bool) -> DescribedTable:
    """Apply DROP INDEX, whose words are not taken yet."""
    cursor.skip("DROP", "ONLINE", "OFFLINE")
    changes = _Changes(table.charset, mariadb)
    _drop_index(cursor, table, changes)
    return _applied(table, changes)


def with_created_index(
    table: DescribedTable, cursor: TokenCursor, *, mariadb: bool
) -> DescribedTable:
    """Apply CREATE INDEX, whose words are not taken yet."""
    cursor.take()
    replaces = cursor.accept("OR", "REPLACE")
    cursor.skip("ONLINE", "OFFLINE")
    key = key_definition(cursor)
    if key is None:
        return table
    if key.over_period:
        raise NotFollowed("it adds a key over a period, whose columns are not kept")
    changes = _Changes(table.charset, mariadb, indexes=IndexChanges(added=[key]))
    if replaces and key.name.lower() in {index.name.lower() for index in table.indexes or ()}:
        changes.indexes.dropped.add(key.name.lower())
    return _applied(table, changes)


def _new_charset(cursor: TokenCursor) -> tuple[str | None, str | None]:
    """The character set that the statement gives to columns without one, and that of CONVERT TO,
    wherever they are named.
    """
    charset: str | None = None
    converted: str | None = None
    going_on = True
    while going_on:
        if cursor.accept("CONVERT", "TO"):
            charset = converted = _options_charset(cursor)
        elif cursor.word() not in _READERS:
            charset = _options_charset(cursor) or charset
        going_on = cursor.skip_item()
    return charset, converted


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


def _speaks_of_column(cursor: TokenCursor) -> bool:
    if cursor.accept("COLUMN"):
        return True
    return (
        cursor.word() not in _NO_COLUMN and (cursor.word(), cursor.word(1)) not in _NO_COLUMN_PAIRS
    )


def _add(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if cursor.accept("SYSTEM", "VERSIONING"):
        changes.versioned = True
    elif (period := period_columns(cursor)) is not None:
        _must_be_known(table)
        name, changes.period = period
        if name == "SYSTEM_TIME":
            raise NotFollowed("it makes columns the times of versions")
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
    cursor: TokenCursor, table: DescribedTable, changes: _Changes, *, optional: bool
) -> None:
    if not _speaks_of_column(cursor):
        _add_key(cursor, table, changes)
        return
    found = _definition(cursor, changes)
    left_out = optional and _is_there(found.column.name, table, changes)
    changes.take_definition(found, table, optional=optional, left_out=left_out)
    if not left_out:
        changes.placed.append(found)


def _is_there(name: str, table: DescribedTable, changes: _Changes) -> bool:
    """Whether the table has the column, or an item before this one defines it."""
    return table.ordinal(name) is not None or name.lower() in changes.defined


def _add_key(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    key = key_definition(cursor)
    if key is not None and key.over_period:
        raise NotFollowed("it adds a key over a period, whose columns are not kept")
    if key is not None and key.word == "PRIMARY":
        changes.take_primary_key(
            key.columns, table, optional=key.optional, at=len(changes.indexes.added)
        )
    elif key is not None:
        changes.indexes.added.append(key)


def _drop(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if cursor.accept("PRIMARY", "KEY"):
        changes.primary_key = changes.primary_key or ()
    elif cursor.accept("SYSTEM", "VERSIONING"):
        _must_be_known(table)
        changes.versioned = False
    elif cursor.word() in _INDEX_WORDS:
        _drop_index(cursor, table, changes)
    elif _speaks_of_column(cursor):
        optional = cursor.accept("IF", "EXISTS")
        name = cursor.name() or ""
        if table.ordinal(name) is not None:
            changes.dropped.add(name.lower())
        else:
            _must_be_optional(optional, table, f"it drops {name!r}, a column that is not known")


def _drop_index(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
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
    """Raise NotFollowed unless an item about a column that is not there may be left out: it has IF
    EXISTS, and the columns are known.
    """
    if not optional:
        raise NotFollowed(otherwise)
    _must_be_known(table)


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


def _change(
    old: str, found: Definition, table: DescribedTable, changes: _Changes, *, optional: bool
) -> None:
    at = table.ordinal(old)
    if at is not None:
        if (
            changes.mariadb
            and table.columns[at].nullable is False
            and found.column.nullable
            and found.column.kind in _OF_PERIODS
        ):
            # A column of a period stays NOT NULL whatever is said, and periods are not kept.
            found.column = replace(found.column, nullable=None)
        if table.columns[at].kind in ("enum", "set") and found.column.kind not in ("enum", "set"):
            changes.indexes.retyped.add(found.column.name.lower())
        changes.changed[old.lower()] = found
        if (
            changes.converted is not None
            and not changes.mariadb
            and found.column.kind in {*TEXTS, *BYTE_KINDS}
        ):
            raise NotFollowed(f"it changes {old!r} and converts its characters at once")
        changes.placed += [found] if found.place else []
    else:
        _must_be_optional(optional, table, f"it changes {old!r}, a column that is not known")
        if found.primary or found.unique:
            raise NotFollowed(f"it leaves {old!r} out, and some releases add its key")
    changes.take_definition(found, table, optional=optional, left_out=at is None)


def _rename(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    if cursor.accept("INDEX") or cursor.accept("KEY"):
        _rename_index(cursor, table, changes)
        return
    if not cursor.accept("COLUMN"):
        return  # of the table
    optional = cursor.accept("IF", "EXISTS")
    old = cursor.name() or ""
    new = cursor.name() if cursor.accept("TO") else None
    if new is not None and table.ordinal(old) is not None:
        changes.renamed[old.lower()] = new
    else:
        _must_be_optional(optional, table, f"it renames {old!r}, a column that is not known")


def _rename_index(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    optional = cursor.accept("IF", "EXISTS")
    old = (cursor.name() or "").lower()
    known = {index.name.lower() for index in table.indexes or ()}
    if cursor.accept("TO") and (not optional or old in known or not table.columns):
        changes.indexes.renamed[old] = cursor.name() or ""


def _alter(cursor: TokenCursor, table: DescribedTable, changes: _Changes) -> None:
    """ALTER [COLUMN] a SET INVISIBLE; defaults are of no concern."""
    if cursor.word() in ("INDEX", "KEY", "CONSTRAINT", "CHECK"):
        return
    cursor.accept("COLUMN")
    name = (cursor.name() or "").lower()
    if cursor.accept("SET") and cursor.word() in ("VISIBLE", "INVISIBLE"):
        _must_be_known(table)
        changes.hidden[name] = cursor.word() == "INVISIBLE"


_READERS: Final = {
    "ADD": _add,
    "DROP": _drop,
    "MODIFY": _modify,
    "CHANGE": _change_item,
    "RENAME": _rename,
    "ALTER": _alter,
}


def _definition(cursor: TokenCursor, changes: _Changes) -> Definition:
    found = column_definition(
        cursor, changes.charset, mariadb=changes.mariadb, converted=changes.converted
    )
    if found is None:
        raise NotFollowed("a column's definition could not be read")
    return found


def _applied(table: DescribedTable, changes: _Changes) -> DescribedTable:
    if changes.mariadb and changes.primary_key and _may_declare_versions(table):
        raise NotFollowed("its key may end in a declared time of versions")
    columns: list[DescribedColumn] = []
    versioned = has_versions(table)
    # What is added stands before the columns of the versions, which are always the last.
    for column in (without_versions(table) if versioned else table).columns:
        name = column.name.lower()
        found = changes.changed.get(name)
        if name in changes.dropped or (found is not None and found.place):
            continue
        columns.append(found.column if found is not None else _touched(column, changes))
    for found in changes.placed:
        _insert(columns, found)
    if not changes.mariadb and _has_generated_key(table):
        # MySQL moves it back before whatever was put there; the sort keeps the order of the others.
        columns.sort(key=lambda column: column.name.lower() != _GENERATED_KEY)
    result = replace(table, columns=tuple(columns), charset=changes.charset)
    if versioned if changes.versioned is None else changes.versioned:
        result = with_versions(result)
    before = BeforePrimaryKey(result.columns, changes.primary_at) if changes.primary_key else None
    result = with_key(without_nulls(result, changes.period), _key_after(table, changes))
    new_names = {
        name: None if name in changes.dropped else _new_name(column.name, changes)
        for name, column in _by_name(table).items()
    }
    changes.indexes.mariadb = changes.mariadb
    indexes = altered_indexes(table.indexes, changes.indexes, new_names, result, before)
    added_unique = any(key.word == "UNIQUE" for key in changes.indexes.added)
    if changes.keys_in_doubt or (changes.mariadb and added_unique and _may_declare_versions(table)):
        indexes = None  # in the second case they may end in a declared time of versions
    return with_end_of_versions(replace(result, indexes=indexes))


def _by_name(table: DescribedTable) -> dict[str, DescribedColumn]:
    return {column.name.lower(): column for column in table.columns}


def _may_declare_versions(table: DescribedTable) -> bool:
    """Whether a column may have been declared AS ROW END, which MariaDB then puts behind the
    primary key.
    """
    times = [
        column
        for column in table.columns
        if (column.kind, column.measures, column.nullable) == ("timestamp", (6,), False)
    ]
    return len(times) > 1 and not has_versions(table)


def _has_generated_key(table: DescribedTable) -> bool:
    """Whether MySQL takes the first column for a generated invisible primary key, whatever the
    session's settings are.
    """
    first = table.columns[0] if table.columns else None
    return (
        first is not None
        and (first.name.lower(), first.kind, first.unsigned, first.visible)
        == (_GENERATED_KEY, "bigint", True, False)
        and [name.lower() for name in table.primary_key] == [_GENERATED_KEY]
    )


def _touched(column: DescribedColumn, changes: _Changes) -> DescribedColumn:
    """A column that is not defined anew, with its new name and character set."""
    name = column.name.lower()
    column = replace(
        column,
        name=changes.renamed.get(name, column.name),
        visible=not changes.hidden.get(name, not column.visible),
    )
    return column if changes.converted is None else _converted(column, changes.converted)


def _converted(column: DescribedColumn, charset: str) -> DescribedColumn:
    """CONVERT TO CHARACTER SET: texts become as large as their characters may need."""
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
    """Whether the bytes of a column's labels mean the same in this character set: servers do not
    convert them.
    """
    if (column.charset, charset) == ("utf8mb3", "utf8mb4"):
        return True
    return not {column.charset, charset} & WIDE and all(label.isascii() for label in column.labels)


def _insert(columns: list[DescribedColumn], found: Definition) -> None:
    if any(column.name.lower() == found.column.name.lower() for column in columns):
        raise NotFollowed(f"it adds {found.column.name!r}, a column that is there")
    if found.place == "FIRST":
        columns.insert(0, found.column)
    elif found.place == "AFTER":
        at = next(
            (at for at, column in enumerate(columns) if column.name.lower() == found.after.lower()),
            None,
        )
        if at is None:
            raise NotFollowed(f"it puts a column behind {found.after!r}, which is not known")
        columns.insert(at + 1, found.column)
    else:
        columns.append(found.column)


def _key_after(table: DescribedTable, changes: _Changes) -> tuple[str, ...]:
    """The names of the primary key's columns: a new key, else the old one under the columns' new
    names.
    """
    if changes.primary_key is not None:
        return changes.primary_key
    kept = [name for name in table.primary_key if name.lower() not in changes.dropped]
    return tuple(_new_name(name, changes) for name in kept)


def _new_name(name: str, changes: _Changes) -> str:
    found = changes.changed.get(name.lower())
    return found.column.name if found is not None else changes.renamed.get(name.lower(), name)

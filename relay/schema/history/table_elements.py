"""Parses the elements of a CREATE TABLE into a described table."""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.model.sql_mode import WITHOUT_OPTIONS, SqlMode
from relay.schema.column_texts import starts_column
from relay.schema.history.column_words import charset_name, charset_of_collation_name
from relay.schema.history.columns.column_definition import column_definition
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.history.indexes.certainty import are_certain
from relay.schema.history.indexes.index_order import BeforePrimaryKey, with_indexes
from relay.schema.history.indexes.key_definitions import KeyDefinition, key_definition, key_parts
from relay.schema.history.system_versions import (
    HIDDEN_PERIOD,
    with_end_of_versions,
    with_key,
    with_versions,
    without_nulls,
)
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import TokenKind

# Words after the elements, or instead of them, if the columns come from a query.
_QUERY_WORDS: Final = frozenset({"AS", "SELECT", "IGNORE", "REPLACE", "WITH", "VALUES", "TABLE"})
DEFAULT_CHARSET: Final = "DEFAULT"
"""Result of `option_charset` for CHARACTER SET DEFAULT: a table then uses the set of its database,
and a database the set of its session.
"""
_SERVERS_GAP: Final = len("\n  ")
"""Number of characters between the opening bracket and the first name, if a server wrote the
statement itself.
"""


@dataclass(slots=True)
class _Elements:
    """The parsed elements of a table.

    period, system_period  columns of MariaDB's periods
    primary_at             number of keys before the primary key
    primary_over_period    whether the primary key has a period WITHOUT OVERLAPS
    unread                 whether an element could not be read
    keys_in_doubt          whether releases of MariaDB create different keys
    """

    columns: list[DescribedColumn] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    period: tuple[str, ...] = ()
    system_period: tuple[str, ...] = ()
    primary_at: int = 0
    primary_over_period: bool = False
    keys: list[KeyDefinition] = field(default_factory=list)
    unread: bool = False
    keys_in_doubt: bool = False


def created_table(
    cursor: TokenCursor, database_charset: str | None, *, mariadb: bool
) -> DescribedTable | None:
    """Return the table of a CREATE TABLE; None if its elements do not describe the table
    completely. The cursor is after the opening bracket.

    Columns without a character set use the table's, which the options after the elements name.
    `database_charset` is the default of the table's database.
    """
    behind = cursor.copy()
    behind.skip_brackets()
    charset, versioned = table_options(behind)
    if behind.word() in _QUERY_WORDS or is_ambiguous(cursor, charset):
        return None
    charset = (None if charset == DEFAULT_CHARSET else charset) or database_charset
    elements = _elements(cursor, charset, mariadb=mariadb)
    if elements.unread or not elements.columns:
        return None
    table = DescribedTable(tuple(elements.columns), (), charset)
    if versioned and not elements.system_period:
        table, elements.system_period = with_versions(table), HIDDEN_PERIOD
    _extend_keys(elements, versioned=versioned)
    table = without_nulls(table, (*elements.period, *elements.system_period))
    return _with_keys(table, elements, mariadb=mariadb)


def _elements(cursor: TokenCursor, charset: str | None, *, mariadb: bool) -> _Elements:
    elements = _Elements()
    has_more = True
    while has_more:
        _read_element(cursor, elements, charset, mariadb=mariadb)
        has_more = cursor.skip_item()
    return elements


def _extend_keys(elements: _Elements, *, versioned: bool) -> None:
    """Add the columns of the table's periods to its keys, as MariaDB does."""
    times = elements.system_period if versioned else ()
    if elements.primary_key or elements.primary_over_period:
        period = elements.period if elements.primary_over_period else ()
        elements.primary_key = _with_periods(elements.primary_key, times, period)
    elements.keys = [_key_with_periods(key, times, elements.period) for key in elements.keys]


def _with_keys(table: DescribedTable, elements: _Elements, *, mariadb: bool) -> DescribedTable:
    """Return the table with its primary key, and with its indexes if these are certain."""
    before = BeforePrimaryKey(table.columns, elements.primary_at) if elements.primary_key else None
    table = with_key(table, elements.primary_key)
    indexes = with_indexes((), elements.keys, table, before)
    if elements.keys_in_doubt or not are_certain(indexes, table, mariadb=mariadb):
        return table
    return with_end_of_versions(replace(table, indexes=indexes))


def _key_with_periods(
    key: KeyDefinition, times: tuple[str, ...], period: tuple[str, ...]
) -> KeyDefinition:
    """Return the key as MariaDB creates it in a table with periods."""
    if key.word != "UNIQUE":
        return key
    columns = _with_periods(key.columns, times, period if key.over_period else ())
    return replace(
        key, columns=columns, prefixes=(*key.prefixes, *[0] * (len(columns) - len(key.columns)))
    )


def _with_periods(
    columns: tuple[str, ...], times: tuple[str, ...], period: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a unique key with the columns that MariaDB adds: the end of a version, then end and
    start of a period without overlaps.

    A key that already has a version's time is not changed.
    """
    has_time = {name.lower() for name in columns} & {name.lower() for name in times}
    return (*columns, *(times[-1:] if not has_time else ()), *period[::-1])


def is_ambiguous(cursor: TokenCursor, charset: str | None) -> bool:
    """Return whether the server may have written the statement itself, under an sql_mode that hides
    facts.

    For CREATE … SELECT and for tables with a generated key, the binlog has a text that the server
    wrote, not the client. Its first element is a quoted name on a new line. In this text, strings
    have escapes under every sql_mode, and under some modes it lacks the table's options.
    """
    first = cursor.token
    if first is None or first.kind is not TokenKind.QUOTED or cursor.gap() != _SERVERS_GAP:
        return False
    if SqlMode.NO_BACKSLASH_ESCAPES in cursor.sql_mode and cursor.has_string_with("\\\\"):
        return True
    return charset is None and bool(cursor.sql_mode & WITHOUT_OPTIONS)


def table_options(cursor: TokenCursor) -> tuple[str | None, bool]:
    """Return (character set or None, whether there is WITH SYSTEM VERSIONING) of the options at the
    cursor. The options end at a query, or at the end of the statement.
    """
    charset: str | None = None
    versioned = False
    while cursor.token is not None:
        if cursor.accept("WITH", "SYSTEM", "VERSIONING"):
            versioned = True
        elif cursor.word() in _QUERY_WORDS - {"WITH"}:
            break
        elif cursor.accept("("):
            cursor.skip_brackets()
        else:
            charset = option_charset(cursor) or charset
    return charset, versioned


def option_charset(cursor: TokenCursor) -> str | None:
    """Read one word, or a whole character set option; return the named character set,
    DEFAULT_CHARSET, or None for another word.

    Raises NotFollowed for COLLATE DEFAULT: depending on the server's release, this option keeps the
    character set or sets a default.
    """
    if (
        cursor.accept("CHARSET")
        or cursor.accept("CHARACTER", "SET")
        or cursor.accept("CHAR", "SET")
    ):
        cursor.accept("=")
        token = cursor.take()
        if token is not None and token.word == "DEFAULT":
            return DEFAULT_CHARSET
        return None if token is None else charset_name(token.text.strip("'\"`"))
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        token = cursor.take()
        if token is not None and token.word == "DEFAULT":
            raise NotFollowed("COLLATE DEFAULT may change the character set")
        return None if token is None else charset_of_collation_name(token.text.strip("'\"`"))
    if cursor.accept("COMMENT"):
        cursor.accept("=")
    cursor.take()
    return None


def period_columns(cursor: TokenCursor) -> tuple[str, tuple[str, ...]] | None:
    """Return (name in upper case, columns) of MariaDB's PERIOD FOR name (start, end) at the cursor;
    None if the next tokens are something else.
    """
    if not cursor.accept("PERIOD", "FOR"):
        return None
    return (cursor.name() or "").upper(), key_parts(cursor).columns


def _read_element(
    cursor: TokenCursor, elements: _Elements, charset: str | None, *, mariadb: bool
) -> None:
    if starts_column(cursor):
        found = column_definition(cursor, charset, mariadb=mariadb)
        if found is None:
            elements.unread = True
            return
        elements.columns.append(found.column)
        if found.primary:
            elements.primary_key = (found.column.name,)
        elements.keys_in_doubt |= mariadb and found.has_doubtful_key
        if found.unique:
            elements.keys.append(KeyDefinition.of_column(found.column.name))
        return
    if (period := period_columns(cursor)) is not None:
        name, columns = period
        if name == "SYSTEM_TIME":
            elements.system_period = columns
        else:
            elements.period = columns
        return
    key = key_definition(cursor)
    if key is not None and key.word == "PRIMARY":
        elements.primary_key, elements.primary_at, elements.primary_over_period = (
            key.columns,
            len(elements.keys),
            key.over_period,
        )
    elif key is not None:
        elements.keys.append(key)

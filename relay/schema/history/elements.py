"""The table elements of CREATE TABLE → DescribedTable."""

from dataclasses import dataclass, field, replace
from typing import Final

from relay.schema.column_texts import starts_column
from relay.schema.history.column_definition import column_definition
from relay.schema.history.column_words import charset_name, charset_of_collation_name
from relay.schema.history.described import DescribedColumn, DescribedTable
from relay.schema.token_cursor import TokenCursor

# What follows the elements, or stands instead of them, where columns come from a query.
_QUERY_WORDS: Final = frozenset({"AS", "SELECT", "IGNORE", "REPLACE", "WITH", "VALUES", "TABLE"})
_VERSION_COLUMNS: Final = tuple(
    DescribedColumn(name, "timestamp", (6,), nullable=False, visible=False) for name in ("row_start", "row_end")
)


@dataclass(slots=True)
class _Elements:
    columns: list[DescribedColumn] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unread: bool = False


def created_table(cursor: TokenCursor, database_charset: str | None, *, mariadb: bool) -> DescribedTable | None:
    """Read a table's elements and options, the opening bracket already taken; None where they do not say all.

    Columns without a character set of their own take the table's, which is named behind them.
    """
    behind = cursor.copy()
    behind.skip_brackets()
    charset, versioned = table_options(behind)
    if behind.word() in _QUERY_WORDS:
        return None
    elements = _Elements()
    going_on = True
    while going_on:
        _read_element(cursor, elements, charset or database_charset, mariadb=mariadb)
        going_on = cursor.skip_item()
    if elements.unread or not elements.columns:
        return None
    table = DescribedTable(tuple(elements.columns), elements.primary_key, charset or database_charset)
    return with_key(with_versions(table) if versioned else table, elements.primary_key)


def table_options(cursor: TokenCursor) -> tuple[str | None, bool]:
    """Read options up to a query or the end: the character set that they name, and WITH SYSTEM VERSIONING."""
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
    """Take one word, or a whole character set option; the character set that it names."""
    if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET"):
        cursor.accept("=")
        token = cursor.take()
        return None if token is None or token.word == "DEFAULT" else charset_name(token.text.strip("'\"`"))
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        token = cursor.take()
        return None if token is None else charset_of_collation_name(token.text.strip("'\"`"))
    if cursor.accept("COMMENT"):
        cursor.accept("=")
    cursor.take()
    return None


def with_key(table: DescribedTable, names: tuple[str, ...]) -> DescribedTable:
    """The table with this primary key, whose columns hold no NULL."""
    names = _with_end_of_version(table, names)
    wanted = {name.lower() for name in names}
    columns = tuple(replace(column, nullable=False) if column.name.lower() in wanted else column for column in table.columns)
    return replace(table, columns=columns, primary_key=names)


def _with_end_of_version(table: DescribedTable, names: tuple[str, ...]) -> tuple[str, ...]:
    """MariaDB puts the end of a version behind the key of a table that has versions, so that those of a row differ."""
    end = _VERSION_COLUMNS[-1].name
    versioned = has_versions(table)
    if not versioned and table.ordinal(end) is not None:
        return names  # a column of the user's own
    key = tuple(name for name in names if name.lower() != end)
    return (*key, end) if key and versioned else key


def has_versions(table: DescribedTable) -> bool:
    """Whether the columns of MariaDB's system versions stand in its rows without having been named."""
    return tuple(replace(column, nullable=False) for column in table.columns[-len(_VERSION_COLUMNS) :]) == _VERSION_COLUMNS


def with_versions(table: DescribedTable) -> DescribedTable:
    """MariaDB's table with system versions: the columns of their times, which nobody has to name, stand in its rows."""
    if any(table.ordinal(column.name) is not None for column in _VERSION_COLUMNS):
        return table
    return replace(table, columns=(*table.columns, *_VERSION_COLUMNS))


def without_versions(table: DescribedTable) -> DescribedTable:
    """The same without them."""
    names = {column.name for column in _VERSION_COLUMNS}
    return replace(table, columns=tuple(column for column in table.columns if column.name not in names))


def key_columns(cursor: TokenCursor) -> tuple[str, ...]:
    """Take the column list of a key definition, with what may stand before it: `[name] [USING BTREE] (a, b(10) DESC)`."""
    if not cursor.skip_to("("):
        return ()
    names = []
    going_on = True
    while going_on:
        names.append(cursor.name() or "")
        going_on = cursor.skip_item()
    return tuple(names)


def _read_element(cursor: TokenCursor, elements: _Elements, charset: str | None, *, mariadb: bool) -> None:
    if starts_column(cursor):
        found = column_definition(cursor, charset, mariadb=mariadb)
        if found is None:
            elements.unread = True
            return
        elements.columns.append(found.column)
        if found.primary:
            elements.primary_key = (found.column.name,)
        return
    if cursor.accept("CONSTRAINT") and cursor.word() not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        cursor.take()
    if cursor.accept("PRIMARY", "KEY"):
        elements.primary_key = key_columns(cursor)

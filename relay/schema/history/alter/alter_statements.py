"""Returns a described table as it is after an ALTER TABLE, CREATE INDEX or DROP INDEX."""

from relay.schema.history.alter.alter_items import ITEM_READERS, drop_index, read_item
from relay.schema.history.alter.altered_table import altered_table
from relay.schema.history.alter.table_alterations import TableAlterations
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.indexes.altered_indexes import IndexAlterations
from relay.schema.history.indexes.key_definitions import key_definition
from relay.schema.history.table_elements import DEFAULT_CHARSET, option_charset
from relay.schema.sql.token_cursor import TokenCursor


def altered(
    table: DescribedTable,
    cursor: TokenCursor,
    *,
    mariadb: bool,
    database_charset: str | None = None,
) -> DescribedTable:
    """Return the table after an ALTER TABLE; the cursor is after the table's name.

    `database_charset` is the default character set of its database. Raises NotFollowed if the
    result is not certain.
    """
    charset, converted = _new_charset(cursor.copy())
    if converted == DEFAULT_CHARSET:
        raise NotFollowed("it converts to the default character set, which its text does not name")
    if charset == DEFAULT_CHARSET and database_charset is None:
        raise NotFollowed("it takes the character set of its database, which is not known")
    charset = database_charset if charset == DEFAULT_CHARSET else charset
    changes = TableAlterations(charset or table.charset, mariadb, converted=converted)
    going_on = True
    while going_on:
        read_item(cursor, table, changes)
        going_on = cursor.skip_item()
    return altered_table(table, changes)


def without_index(table: DescribedTable, cursor: TokenCursor, *, mariadb: bool) -> DescribedTable:
    """Return the table after a DROP INDEX. The cursor is before the word INDEX."""
    cursor.skip("DROP", "ONLINE", "OFFLINE")
    changes = TableAlterations(table.charset, mariadb)
    drop_index(cursor, table, changes)
    return altered_table(table, changes)


def with_created_index(
    table: DescribedTable, cursor: TokenCursor, *, mariadb: bool
) -> DescribedTable:
    """Return the table after a CREATE INDEX. The cursor is before the words that describe the
    index.
    """
    cursor.take()
    replaces = cursor.accept("OR", "REPLACE")
    cursor.skip("ONLINE", "OFFLINE")
    key = key_definition(cursor)
    if key is None:
        return table
    if key.over_period:
        raise NotFollowed("it adds a key WITHOUT OVERLAPS, and columns of periods are not stored")
    changes = TableAlterations(table.charset, mariadb, indexes=IndexAlterations(added=[key]))
    if replaces and key.name.lower() in {index.name.lower() for index in table.indexes or ()}:
        changes.indexes.dropped.add(key.name.lower())
    return altered_table(table, changes)


def _new_charset(cursor: TokenCursor) -> tuple[str | None, str | None]:
    """Return (character set of columns without their own, that of CONVERT TO); None where the
    statement has none.

    The options may be anywhere in the statement.
    """
    charset: str | None = None
    converted: str | None = None
    going_on = True
    while going_on:
        if cursor.accept("CONVERT", "TO"):
            charset = converted = _options_charset(cursor)
        elif cursor.word() not in ITEM_READERS:
            charset = _options_charset(cursor) or charset
        going_on = cursor.skip_item()
    return charset, converted


def _options_charset(cursor: TokenCursor) -> str | None:
    """Read table options, or CONVERT TO, up to the next comma or bracket; return the character set
    in them, None without one.
    """
    charset: str | None = None
    while cursor.token is not None and cursor.word() not in (",", "("):
        charset = option_charset(cursor) or charset
    return charset

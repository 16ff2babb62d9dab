"""Reads the column renames of an ALTER TABLE from its text alone, for the header `renamed`."""

from relay.envelope import ColumnRename
from relay.model.change import Statement
from relay.schema.sql.set_statement import sets_sql_mode
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import tokenize


def column_renames(statement: Statement) -> tuple[ColumnRename, ...] | None:
    """Return the renames of an ALTER TABLE, in order.

    None if the statement is no ALTER TABLE, or if its meaning is not certain. The meaning is not
    certain if MySQL and MariaDB read the statement differently, or if it sets another sql_mode than
    the session's.
    """
    first = tokenize(statement.sql, limit=1)
    if (
        not first
        or first[0].word not in ("ALTER", "SET")
        or sets_sql_mode(TokenCursor.of(statement))
    ):
        return None
    found, of_mysql = (_renames(TokenCursor.of(statement, mariadb=each)) for each in (True, False))
    return found if found == of_mysql else None


def _renames(cursor: TokenCursor) -> tuple[ColumnRename, ...] | None:
    if not _is_altered_table(cursor):
        return None
    found: list[ColumnRename] = []
    has_more = True
    while has_more:
        if _renames_column(cursor):
            renamed = _names(cursor)
            if renamed is None:
                return None
            found.append(renamed)
        has_more = cursor.skip_item()
    return tuple(each for each in found if each.old != each.new)


def _is_altered_table(cursor: TokenCursor) -> bool:
    """Move the cursor to the first item of an ALTER TABLE; return False for another statement."""
    if cursor.accept("SET", "STATEMENT"):
        cursor.skip_to("FOR")
    if not cursor.accept("ALTER"):
        return False
    cursor.skip("ONLINE", "OFFLINE", "IGNORE")
    if not cursor.accept("TABLE"):
        return False
    cursor.accept("IF", "EXISTS")
    if cursor.table() is None:
        return False
    if not cursor.accept("NOWAIT") and cursor.accept("WAIT"):
        cursor.take()
    return True


def _renames_column(cursor: TokenCursor) -> bool:
    """Read the words that begin an item with two names of a column; return False for another item.
    The names of a CHANGE may be the same.
    """
    if cursor.accept("RENAME", "COLUMN"):
        return True
    if cursor.accept("CHANGE"):
        cursor.accept("COLUMN")
        return True
    return False


def _names(cursor: TokenCursor) -> ColumnRename | None:
    if_exists = cursor.accept("IF", "EXISTS")
    old = cursor.name()
    cursor.accept("TO")  # a name only in quotes: servers reserve the word
    new = cursor.name()
    return None if old is None or new is None else ColumnRename(old, new, if_exists)

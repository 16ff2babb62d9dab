"""MariaDB's SET STATEMENT … FOR, before the statement itself."""

from relay.schema.sql.token_cursor import TokenCursor


def sets_sql_mode(cursor: TokenCursor) -> bool:
    """Return whether MariaDB's SET STATEMENT names sql_mode.

    The server parses the statement in the former mode, and logs the new one.
    """
    if not cursor.accept("SET", "STATEMENT"):
        return False
    while cursor.token is not None and cursor.word() != "FOR":
        if cursor.accept("SQL_MODE"):
            return True
        cursor.take()
    return False

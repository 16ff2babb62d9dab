"""MariaDB's SET STATEMENT … FOR, which may precede a statement."""

from relay.schema.sql.token_cursor import TokenCursor


def sets_sql_mode(cursor: TokenCursor) -> bool:
    """Return whether a SET STATEMENT at the cursor sets sql_mode.

    The server parses the statement after FOR in the former mode, but logs the new mode. So the
    statement cannot be read by the logged mode.
    """
    if not cursor.accept("SET", "STATEMENT"):
        return False
    while cursor.token is not None and cursor.word() != "FOR":
        if cursor.accept("SQL_MODE"):
            return True
        cursor.take()
    return False

"""MariaDB's SET STATEMENT … FOR, before the statement itself."""

from relay.schema.sql.token_cursor import TokenCursor


def sets_sql_mode(cursor: TokenCursor) -> bool:
    """Whether MariaDB's SET STATEMENT names sql_mode: the server reads the statement in the mode
    before, and logs the new one.
    """
    if not cursor.accept("SET", "STATEMENT"):
        return False
    while cursor.token is not None and cursor.word() != "FOR":
        if cursor.accept("SQL_MODE"):
            return True
        cursor.take()
    return False

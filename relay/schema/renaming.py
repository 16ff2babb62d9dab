"""Rewrites DDL with logical names. Only table names change; every other byte stays as the server
logged it.
"""

from collections.abc import Callable

from relay.model.table import TableId
from relay.schema.ddl import Ddl
from relay.schema.sql.tokens import Token


def renamed_sql(ddl: Ddl, logical: Callable[[TableId], TableId]) -> str:
    """Return the statement's SQL with each table and database that it names in its own clauses
    replaced by its logical name.

    A database is passed as a table with an empty name. Names inside queries, views, triggers and
    routines stay as they are, and so do statement-format row changes.
    """
    replaced: dict[int, tuple[Token, str]] = {}
    for name in ddl.written:
        new = logical(name.id)
        for token, old_text, new_text in (
            (name.database_token, name.id.database, new.database),
            (name.table_token, name.id.table, new.table),
        ):
            if token is not None and old_text != new_text:
                replaced[token.start] = (token, new_text)
    return _replace(ddl.sql, [replaced[start] for start in sorted(replaced)])


def _replace(sql: str, replaced: list[tuple[Token, str]]) -> str:
    pieces, done = [], 0
    for token, text in replaced:
        pieces += [sql[done : token.start], "`", text.replace("`", "``"), "`"]
        done = token.end
    return "".join(pieces) + sql[done:]

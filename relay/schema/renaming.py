"""Writes DDL with logical names. Only names of tables and databases change; every other byte stays
as the server logged it.
"""

from collections.abc import Callable

from relay.model.table import TableId
from relay.schema.ddl import Ddl
from relay.schema.sql.tokens import Token


def renamed_sql(ddl: Ddl, logical: Callable[[TableId], TableId]) -> str:
    """Return the statement with logical names in place of the names of real tables and databases.

    `logical` returns the logical name of a real table; a database is passed as a table without a
    name. Names inside queries, views, triggers and routines are not changed, and neither are row
    changes that were logged as text.
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

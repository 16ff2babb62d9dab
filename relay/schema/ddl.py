"""What kind of statement the server logged as text, and which tables it names.

Statements are recognised by their first words. What is not recognised is DDL of the kind QUERY:
passed on as it is, never dropped.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from relay.model.change import Statement
from relay.model.table import TableId
from relay.schema.ddl_readers import recognise
from relay.schema.sql.token_cursor import TokenCursor, WrittenName
from relay.schema.sql.tokens import tokenize
from relay.schema.statement_kind import StatementKind


@dataclass(frozen=True, slots=True)
class Ddl:
    """One statement, understood as far as it is recognised.

    `database` and `table` are the names that Canal gives the message: of several tables the first,
    for a rename the new name, empty where the statement names none. `tables` holds every table that
    it changes, old names and new; empty where that is not known. `is_ddl` is False for
    statement-format changes of rows (INSERT … as text).
    """

    kind: StatementKind
    is_ddl: bool
    database: str
    table: str
    tables: tuple[TableId, ...]
    sql: str
    written: tuple[WrittenName, ...]


_ROW_CHANGES: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "CALL", "WITH"})
_MODIFIERS: Final = ("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE")
# A row change of more words than this is a bulk insert; its target stands at its front.
_ROW_CHANGE_TOKENS: Final = 256


def classify(statement: Statement) -> Ddl:
    """Say what a statement is."""
    first = tokenize(statement.sql, limit=1)
    if first and first[0].word in _ROW_CHANGES:
        return _row_change(statement)
    cursor = TokenCursor.of(statement)
    if cursor.accept("SET", "STATEMENT"):
        # MariaDB: settings for the one statement behind FOR.
        cursor.skip_to("FOR")
    recognised = recognise(cursor)
    if recognised is None:
        return Ddl(StatementKind.QUERY, True, statement.database, "", (), statement.sql, ())
    kind, changed, others = recognised
    named = changed[0].id if changed else TableId(statement.database, "")
    tables = dict.fromkeys(name.id for name in changed if name.id.table)
    return Ddl(
        kind, True, named.database, named.table, tuple(tables), statement.sql, (*changed, *others)
    )


def _row_change(statement: Statement) -> Ddl:
    cursor = TokenCursor.of(statement, limit=_ROW_CHANGE_TOKENS)
    target = _target(cursor)
    named = target.id if target is not None else TableId(statement.database, "")
    tables: Iterable[TableId] = (named,) if target is not None else ()
    return Ddl(
        StatementKind.QUERY, False, named.database, named.table, tuple(tables), statement.sql, ()
    )


def _target(cursor: TokenCursor) -> WrittenName | None:
    """Find the one table that a row change writes to; None where it may be several."""
    verb = cursor.word()
    cursor.take()
    cursor.skip(*_MODIFIERS)
    if verb in ("INSERT", "REPLACE"):
        cursor.accept("INTO")
        return cursor.table()
    if verb == "LOAD":
        return cursor.table() if cursor.skip_to("INTO") and cursor.accept("TABLE") else None
    if verb == "DELETE":
        return (
            cursor.table()
            if cursor.accept("FROM") and not _joins(cursor, "WHERE", "USING")
            else None
        )
    return cursor.table() if verb == "UPDATE" and not _joins(cursor, "SET") else None


def _joins(cursor: TokenCursor, *ends: str) -> bool:
    """Say whether several tables stand before the words that end the table list."""
    ahead = 0
    while ahead < _ROW_CHANGE_TOKENS and cursor.word(ahead) not in ends:
        if cursor.word(ahead) in (",", "JOIN", "STRAIGHT_JOIN", "("):
            return True
        ahead += 1
    return cursor.word(ahead) == "USING"

"""Recognises statements that the server logged as text: their kind, and the tables that they name.

Statements are recognised by their first words. A statement that is not recognised is DDL of the
kind QUERY: it is published unchanged, never dropped.
"""

import re
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
    """A statement with its recognised parts.

    kind             its kind
    is_ddl           False for row changes that were logged as text, such as INSERT
    database, table  the names that Canal gives the message: those of the first table, for a rename
                     the new ones; "" if the statement names none
    tables           every table that it changes, under old and new names; () if unknown
    sql              its text
    written          the names in its text that are replaced by logical ones
    """

    kind: StatementKind
    is_ddl: bool
    database: str
    table: str
    tables: tuple[TableId, ...]
    sql: str
    written: tuple[WrittenName, ...]

    @property
    def drops_database(self) -> bool:
        """Return whether the statement drops a database with all its tables. It does not name these
        tables.
        """
        if self.table or not self.is_ddl:
            return False
        words = [each.word for each in tokenize(self.sql, limit=4)]
        if words[:3] == ["CREATE", "OR", "REPLACE"]:
            words = words[2:]
        return words[0] in ("DROP", "REPLACE") and words[1] in ("DATABASE", "SCHEMA")

    @property
    def exchanged(self) -> tuple[TableId, ...]:
        """The names that the statement may have given to other tables, or to tables with rows that
        are not in the binlog.
        """
        moves = self.kind in (StatementKind.RENAME, StatementKind.ALTER) and len(self.tables) > 1
        if moves:
            return self.tables
        brings_rows = self.kind is StatementKind.ALTER and _ROWS_WITHOUT_LOG.search(self.sql)
        return tuple(dict.fromkeys(each.id for each in self.written)) if brings_rows else ()


_ROWS_WITHOUT_LOG: Final = re.compile(
    r"\bEXCHANGE\s+PARTITION\b|\bIMPORT\s+(PARTITION\b.*)?TABLESPACE\b", re.IGNORECASE | re.DOTALL
)
_ROW_CHANGES: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "CALL", "WITH"})
_MODIFIERS: Final = ("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE")
# A row change with more tokens than this is a bulk insert, which names its table at the beginning.
_ROW_CHANGE_TOKENS: Final = 256


def classify(statement: Statement) -> Ddl:
    """Return the kind of a statement, and the tables that it names."""
    first = tokenize(statement.sql, limit=1)
    if first and first[0].word in _ROW_CHANGES:
        return _row_change(statement)
    cursor = TokenCursor.of(statement)
    if cursor.accept("SET", "STATEMENT"):
        # MariaDB's SET STATEMENT: the settings before FOR apply only to the statement after it.
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
    """Return the only table that a row change writes to; None if there may be several."""
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
    """Return whether several tables come before one of the words `ends`, which end the list of
    tables.
    """
    ahead = 0
    while ahead < _ROW_CHANGE_TOKENS and cursor.word(ahead) not in ends:
        if cursor.word(ahead) in (",", "JOIN", "STRAIGHT_JOIN", "("):
            return True
        ahead += 1
    return cursor.word(ahead) == "USING"

"""What kind of statement the server logged as text, and which tables it names.

Statements are recognised by their first words. What is not recognised is DDL of the kind QUERY:
passed on as it is, never dropped.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from relay.model.change import Statement
from relay.model.table import TableId
from relay.schema.sql.token_cursor import TokenCursor, WrittenName
from relay.schema.sql.tokens import tokenize


class StatementKind(StrEnum):
    """Canal's word for a statement.

    IGNORED stands for what is of no concern to a copy of the data and is not published.
    """

    CREATE = "CREATE"
    ALTER = "ALTER"
    ERASE = "ERASE"
    TRUNCATE = "TRUNCATE"
    RENAME = "RENAME"
    CREATE_INDEX = "CINDEX"
    DROP_INDEX = "DINDEX"
    QUERY = "QUERY"
    IGNORED = ""


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


_Names: TypeAlias = "list[WrittenName]"
_Recognised: TypeAlias = "tuple[StatementKind, _Names, _Names] | None"
"""The kind, the tables that are changed (the one to name first), and other names to be rewritten
with them.
"""

_ROW_CHANGES: Final = frozenset({"INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD", "CALL", "WITH"})
# What follows ALTER DATABASE where it means the session's own.
_DATABASE_OPTIONS: Final = frozenset(
    {"CHARACTER", "CHARSET", "COLLATE", "COMMENT", "DEFAULT", "ENCRYPTION", "READ"}
)
_MODIFIERS: Final = ("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "QUICK", "IGNORE")
# Accounts carry password hashes, which do not belong into a queue; the others change nothing that
# another session would see.
_IGNORED_FIRST_WORDS: Final = frozenset(
    {
        *(
            "ANALYZE",
            "BEGIN",
            "CHECK",
            "COMMIT",
            "DO",
            "FLUSH",
            "GRANT",
            "OPTIMIZE",
            "PURGE",
            "RELEASE",
            "REPAIR",
        ),
        *("RESET", "REVOKE", "ROLLBACK", "SAVEPOINT", "SET", "SHUTDOWN", "START", "USE", "XA"),
    }
)
_IGNORED_OBJECTS: Final = frozenset({"USER", "ROLE", "TEMPORARY", "SERVER"})
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
    recognised = _recognise(cursor)
    if recognised is None:
        return Ddl(StatementKind.QUERY, True, statement.database, "", (), statement.sql, ())
    kind, changed, others = recognised
    named = changed[0].id if changed else TableId(statement.database, "")
    tables = dict.fromkeys(name.id for name in changed if name.id.table)
    return Ddl(
        kind, True, named.database, named.table, tuple(tables), statement.sql, (*changed, *others)
    )


def _recognise(cursor: TokenCursor) -> _Recognised:
    verb = cursor.word()
    cursor.take()
    if verb in _IGNORED_FIRST_WORDS:
        return StatementKind.IGNORED, [], []
    if verb in ("CREATE", "DROP", "ALTER", "RENAME"):
        cursor.accept("OR", "REPLACE")
        cursor.skip("ONLINE", "OFFLINE", "IGNORE")
        if cursor.word() in _IGNORED_OBJECTS:
            return StatementKind.IGNORED, [], []
    reader = _READERS.get(verb)
    return reader(cursor) if reader is not None else None


def _create(cursor: TokenCursor) -> _Recognised:
    cursor.skip("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR")
    what = cursor.word()
    cursor.take()
    cursor.accept("IF", "NOT", "EXISTS")
    if what in ("DATABASE", "SCHEMA"):
        return _of_database(cursor)
    if what == "INDEX":
        found = cursor.skip_to("ON") and cursor.table()
        return (StatementKind.CREATE_INDEX, [found], []) if found else None
    table = cursor.table() if what in ("TABLE", "SEQUENCE") else None
    if table is None:
        return None
    if what == "SEQUENCE":
        return StatementKind.QUERY, [table], []
    return StatementKind.CREATE, [table], _model_table(cursor) + _references(cursor)


def _model_table(cursor: TokenCursor) -> _Names:
    """Find the table of CREATE TABLE a LIKE b and CREATE TABLE a (LIKE b)."""
    if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
        table = cursor.table()
        return [table] if table is not None else []
    return []


def _references(cursor: TokenCursor) -> _Names:
    """Find the tables that foreign keys point to."""
    found = []
    while cursor.skip_to("REFERENCES"):
        if (table := cursor.table()) is not None:
            found.append(table)
    return found


def _drop(cursor: TokenCursor) -> _Recognised:
    what = cursor.word()
    cursor.take()
    cursor.skip(
        "IF", "EXISTS"
    )  # MariaDB logs the words twice where the session wrote them in a comment that is carried out
    if what in ("DATABASE", "SCHEMA"):
        return _of_database(cursor)
    if what == "INDEX":
        found = cursor.skip_to("ON") and cursor.table()
        return (StatementKind.DROP_INDEX, [found], []) if found else None
    tables = cursor.tables() if what in ("TABLE", "TABLES", "SEQUENCE") else []
    return (
        (StatementKind.QUERY if what == "SEQUENCE" else StatementKind.ERASE, tables, [])
        if tables
        else None
    )


def _of_database(cursor: TokenCursor) -> _Recognised:
    name = cursor.database()
    return (StatementKind.QUERY, [name], []) if name is not None else None


def _truncate(cursor: TokenCursor) -> _Recognised:
    cursor.accept("TABLE")
    table = cursor.table()
    return (StatementKind.TRUNCATE, [table], []) if table is not None else None


def _rename(cursor: TokenCursor) -> _Recognised:
    if not (cursor.accept("TABLE") or cursor.accept("TABLES")):
        return None
    cursor.accept("IF", "EXISTS")
    found: _Names = []
    while (old := cursor.table()) is not None:
        new = cursor.table() if cursor.skip_to("TO") else None
        if new is None:
            return None
        found += [new, old]
        if not cursor.accept(","):
            break
    return (StatementKind.RENAME, found, []) if found else None


def _alter(cursor: TokenCursor) -> _Recognised:
    what = cursor.word()
    cursor.take()
    cursor.accept("IF", "EXISTS")
    if what in ("DATABASE", "SCHEMA"):
        return None if cursor.word() in _DATABASE_OPTIONS else _of_database(cursor)
    table = cursor.table() if what in ("TABLE", "SEQUENCE") else None
    if what == "SEQUENCE":
        return (StatementKind.QUERY, [table], []) if table is not None else None
    if not cursor.accept("NOWAIT") and cursor.accept("WAIT"):
        cursor.take()
    return _alter_table(cursor, table) if table is not None else None


def _alter_table(cursor: TokenCursor, table: WrittenName) -> _Recognised:
    """Read the items: the first gives the kind, as in Canal; a new name may stand in any of
    them.
    """
    kinds, renamed, others = [], [], []
    while True:
        kinds.append(_item_kind(cursor))
        new = _new_name(cursor) or _converted_table(cursor)
        renamed += [new] if new is not None else []
        others += _item_names(cursor)
        if not _next_item(cursor, others):
            break
    changed = [*renamed, table] if kinds[0] is StatementKind.RENAME else [table, *renamed]
    return kinds[0], changed, others


def _next_item(cursor: TokenCursor, others: _Names) -> bool:
    """Move to the next item of ALTER TABLE, picking up the tables that foreign keys of this one
    point to.
    """
    depth = 0
    while cursor.token is not None:
        sign = cursor.word()
        cursor.take()
        if depth == 0 and sign == ",":
            return True
        depth += (sign == "(") - (sign == ")")
        if sign == "REFERENCES" and (table := cursor.table()) is not None:
            others.append(table)
    return False


_INDEX_WORDS: Final = frozenset({"INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "PRIMARY"})


def _item_kind(cursor: TokenCursor) -> StatementKind:
    verb, what = cursor.word(), cursor.word(1)
    if verb == "ADD" and what == "CONSTRAINT":
        # The constraint's own name is optional.
        what = next(
            (cursor.word(ahead) for ahead in (2, 3) if cursor.word(ahead) in _INDEX_WORDS), ""
        )
    if verb == "ADD" and what in _INDEX_WORDS:
        return StatementKind.CREATE_INDEX
    if verb == "DROP" and what in ("INDEX", "KEY", "CONSTRAINT"):
        return StatementKind.DROP_INDEX
    if verb == "RENAME" and what not in ("COLUMN", "INDEX", "KEY"):
        return StatementKind.RENAME
    return StatementKind.ALTER


def _new_name(cursor: TokenCursor) -> WrittenName | None:
    if cursor.word() != "RENAME" or cursor.word(1) in ("COLUMN", "INDEX", "KEY"):
        return None
    cursor.take()
    cursor.skip("TO", "AS", "=")
    return cursor.table()


def _converted_table(cursor: TokenCursor) -> WrittenName | None:
    """Find the other table of MariaDB's CONVERT TABLE t TO PARTITION p and CONVERT PARTITION p TO
    TABLE t.
    """
    if cursor.word() != "CONVERT" or cursor.word(1) not in ("TABLE", "PARTITION"):
        return None
    return cursor.table() if cursor.skip_to("TABLE") else None


def _item_names(cursor: TokenCursor) -> _Names:
    """Find the other table of EXCHANGE PARTITION p WITH TABLE t."""
    if cursor.word() != "EXCHANGE" or not cursor.skip_to("WITH") or not cursor.accept("TABLE"):
        return []
    table = cursor.table()
    return [table] if table is not None else []


_READERS: Final[dict[str, Callable[[TokenCursor], _Recognised]]] = {
    "CREATE": _create,
    "DROP": _drop,
    "ALTER": _alter,
    "RENAME": _rename,
    "TRUNCATE": _truncate,
}


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

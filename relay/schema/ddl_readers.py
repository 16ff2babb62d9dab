"""Recognises DDL by its first words: its kind, the tables that it changes, and the other names in
it.

`relay.schema.ddl` calls `recognise`, and handles statements that are not recognised.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from relay.schema.sql.token_cursor import TokenCursor, WrittenName
from relay.schema.statement_kind import StatementKind

Names: TypeAlias = "list[WrittenName]"
Recognised: TypeAlias = "tuple[StatementKind, Names, Names] | None"
"""(kind, names of the changed tables with the first one at the front, other names that are replaced
by logical ones); None if the statement is not recognised.
"""
# Words directly after ALTER DATABASE: the statement then means the session's default database.
_DATABASE_OPTIONS: Final = frozenset(
    {"CHARACTER", "CHARSET", "COLLATE", "COMMENT", "DEFAULT", "ENCRYPTION", "READ"}
)
# These statements are not published. Those about accounts contain password hashes. The others have
# no effect on other sessions.
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


def recognise(cursor: TokenCursor) -> Recognised:
    """Return the kind of the statement at the cursor and the names in it; None if it is not
    recognised.
    """
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


def _create(cursor: TokenCursor) -> Recognised:
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


def _model_table(cursor: TokenCursor) -> Names:
    """Return the tables in CREATE TABLE a LIKE b and CREATE TABLE a (LIKE b)."""
    if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
        table = cursor.table()
        return [table] if table is not None else []
    return []


def _references(cursor: TokenCursor) -> Names:
    """Return the tables to which foreign keys refer."""
    found = []
    while cursor.skip_to("REFERENCES"):
        if (table := cursor.table()) is not None:
            found.append(table)
    return found


def _drop(cursor: TokenCursor) -> Recognised:
    what = cursor.word()
    cursor.take()
    cursor.skip(
        "IF", "EXISTS"
    )  # MariaDB repeats these words if the session wrote them in an executable comment
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


def _of_database(cursor: TokenCursor) -> Recognised:
    name = cursor.database()
    return (StatementKind.QUERY, [name], []) if name is not None else None


def _truncate(cursor: TokenCursor) -> Recognised:
    cursor.accept("TABLE")
    table = cursor.table()
    return (StatementKind.TRUNCATE, [table], []) if table is not None else None


def _rename(cursor: TokenCursor) -> Recognised:
    if not (cursor.accept("TABLE") or cursor.accept("TABLES")):
        return None
    cursor.accept("IF", "EXISTS")
    found: Names = []
    while (old := cursor.table()) is not None:
        new = cursor.table() if cursor.skip_to("TO") else None
        if new is None:
            return None
        found += [new, old]
        if not cursor.accept(","):
            break
    return (StatementKind.RENAME, found, []) if found else None


def _alter(cursor: TokenCursor) -> Recognised:
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


def _alter_table(cursor: TokenCursor, table: WrittenName) -> Recognised:
    """Read the items of ALTER TABLE. The first one gives the kind, as in Canal; each may contain a
    new name of the table.
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


def _next_item(cursor: TokenCursor, others: Names) -> bool:
    """Move to the next item of ALTER TABLE, and collect the tables to which foreign keys of this
    item refer. Return False at the end.
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
        # The name of the constraint is optional.
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
    """Return the other table of MariaDB's CONVERT TABLE t TO PARTITION p and CONVERT PARTITION p TO
    TABLE t.
    """
    if cursor.word() != "CONVERT" or cursor.word(1) not in ("TABLE", "PARTITION"):
        return None
    return cursor.table() if cursor.skip_to("TABLE") else None


def _item_names(cursor: TokenCursor) -> Names:
    """Return the other table of EXCHANGE PARTITION p WITH TABLE t."""
    if cursor.word() != "EXCHANGE" or not cursor.skip_to("WITH") or not cursor.accept("TABLE"):
        return []
    table = cursor.table()
    return [table] if table is not None else []


_READERS: Final[dict[str, Callable[[TokenCursor], Recognised]]] = {
    "CREATE": _create,
    "DROP": _drop,
    "ALTER": _alter,
    "RENAME": _rename,
    "TRUNCATE": _truncate,
}

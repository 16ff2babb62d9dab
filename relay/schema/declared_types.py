"""Keeps column types as CREATE TABLE and ALTER TABLE in the stream wrote them, for value_style =
"canal".
"""

from typing import Final

from relay.bounded_cache import BoundedCache
from relay.model.change import Statement
from relay.model.table import TableId, TableMap
from relay.schema.column_texts import column, column_list
from relay.schema.ddl import Ddl
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.statement_kind import StatementKind

_REMEMBERED_TABLES: Final = 20_000
"""Largest number of tables. Each needs about a kilobyte, so all together need some tens of
megabytes.
"""


class DeclaredTypes:
    """The column types that DDL in the stream wrote, by table.

    The types are lost at a restart. If there are too many tables, the types of the oldest ones are
    dropped. For a table without DDL in the stream, no types are known.
    """

    def __init__(self) -> None:
        self._columns: BoundedCache[TableId, dict[str, str]] = BoundedCache(_REMEMBERED_TABLES)

    def texts(self, table: TableMap) -> tuple[str, ...] | None:
        """Return the written types in column order.

        None if DDL in the stream wrote none for the table, or for columns with other names than
        those of `table`.
        """
        declared = self._columns.get(table.id)
        if declared is None or len(declared) != len(table.columns):
            return None
        found = [declared.get(column.name.lower()) for column in table.columns]
        texts = tuple(text for text in found if text is not None)
        return texts if len(texts) == len(found) else None

    def apply(self, statement: Statement, ddl: Ddl) -> None:
        """Apply a statement. Call it in the order of the binlog."""
        cursor = TokenCursor.of(statement) if ddl.tables else None
        if cursor is None or not ddl.is_ddl:
            return
        if ddl.kind is StatementKind.CREATE:
            self._create(cursor, ddl)
        elif ddl.kind is StatementKind.ERASE:
            for table in ddl.tables:
                self._columns.pop(table)
        elif ddl.kind is StatementKind.RENAME and cursor.word() == "RENAME":
            self._rename([name.id for name in ddl.written])
        elif cursor.word() == "ALTER" or ddl.kind is StatementKind.ALTER:
            self._alter(cursor, ddl)

    def _create(self, cursor: TokenCursor, ddl: Ddl) -> None:
        table = ddl.tables[0]
        cursor.skip_to("TABLE")
        if cursor.accept("IF", "NOT", "EXISTS") and table in self._columns:
            # With IF NOT EXISTS, MySQL logs the statement even if the table existed.
            return
        cursor.table()
        if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
            model = cursor.table()
            columns = self._columns.get(model.id) if model is not None else None
        else:
            columns = _lowered(column_list(cursor)) if cursor.accept("(") else None
        self._remember(table, columns)

    def _rename(self, tables: list[TableId]) -> None:
        """Apply renames one by one. In `tables` the new name precedes the old one."""
        for new, old in zip(tables[::2], tables[1::2], strict=False):
            self._remember(new, self._columns.pop(old))

    def _alter(self, cursor: TokenCursor, ddl: Ddl) -> None:
        cursor.skip_to("TABLE")
        cursor.accept("IF", "EXISTS")
        written = cursor.table()
        columns = self._columns.pop(written.id) if written is not None else None
        if columns is None:
            return
        altered = dict(columns)
        going_on = True
        while going_on:
            _alter_columns(cursor, altered)
            going_on = cursor.skip_item()
        renamed = [table for table in ddl.tables if written is not None and table != written.id]
        self._remember(renamed[0] if renamed else ddl.tables[0], altered)

    def _remember(self, table: TableId, columns: dict[str, str] | None) -> None:
        self._columns.pop(table)
        if columns:
            self._columns.put(table, columns)


def _lowered(columns: dict[str, str]) -> dict[str, str]:
    """Return the types by column name in lower case, because MySQL compares column names
    case-insensitively.
    """
    return {name.lower(): text for name, text in columns.items()}


_NOT_A_COLUMN: Final = frozenset(
    {
        "PRIMARY",
        "KEY",
        "INDEX",
        "UNIQUE",
        "FULLTEXT",
        "SPATIAL",
        "FOREIGN",
        "CONSTRAINT",
        "CHECK",
    }
)
"""Words after ADD, DROP or RENAME that begin an item about a key or constraint."""


def _alter_columns(cursor: TokenCursor, columns: dict[str, str]) -> None:
    """Apply one item of ALTER TABLE that is about columns; other items are not changes here, and
    the caller skips their rest.
    """
    verb = cursor.word()
    if verb not in ("ADD", "MODIFY", "CHANGE", "DROP", "RENAME"):
        return
    cursor.take()
    named = cursor.accept("COLUMN")
    if not named and cursor.word() in _NOT_A_COLUMN:
        return
    cursor.skip("IF", "NOT", "EXISTS")
    if verb == "ADD" and cursor.accept("("):
        columns.update(_lowered(column_list(cursor)))
    elif verb in ("ADD", "MODIFY"):
        found = column(cursor)
        columns.update(_lowered(dict([found] if found is not None else [])))
    elif verb == "CHANGE":
        columns.pop((cursor.name() or "").lower(), None)
        found = column(cursor)
        columns.update(_lowered(dict([found] if found is not None else [])))
    elif verb == "DROP":
        columns.pop((cursor.name() or "").lower(), None)
    elif named:
        _rename_column(cursor, columns)


def _rename_column(cursor: TokenCursor, columns: dict[str, str]) -> None:
    old = (cursor.name() or "").lower()
    text = columns.pop(old, None)
    new = cursor.name() if cursor.accept("TO") else None
    if text is not None and new is not None:
        columns[new.lower()] = text

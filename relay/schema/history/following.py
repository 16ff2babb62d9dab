"""The tables of a source as statement after statement makes them."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from relay.model.change import Statement
from relay.model.table import TableId
from relay.schema.ddl import Ddl, StatementKind
from relay.schema.history.altering import NotFollowed, altered
from relay.schema.history.column_words import charset_name
from relay.schema.history.described import DescribedTable
from relay.schema.history.elements import created_table, option_charset
from relay.schema.sql_tokens import tokenize
from relay.schema.token_cursor import TokenCursor

Known: TypeAlias = DescribedTable | str
"""A table, or why nothing certain is known of it."""

_NO_COLUMNS: Final = DescribedTable(())
_SYSTEM: Final = frozenset({"mysql", "information_schema", "performance_schema", "sys"})


class Schemas:
    """All tables at one place of the binlog. What a statement leaves unclear makes its table unknown, and nothing else.

    `databases` holds the character set of each database, entered under a table without a name in what `apply` returns.
    `server_charset` is that of databases that name none. `folds_case` says that the server takes names of tables for the same in any case.
    """

    def __init__(self, *, mariadb: bool, server_charset: str | None = None, folds_case: bool = False) -> None:
        self.mariadb = mariadb
        self._server_charset = charset_name(server_charset) if server_charset is not None else None
        self._folds = folds_case
        self._tables: dict[TableId, Known] = {}
        self._databases: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def tables(self) -> Mapping[TableId, Known]:
        return self._tables

    @property
    def databases(self) -> Mapping[str, str]:
        return self._databases

    def of(self, table: TableId) -> Known | None:
        """What is known of a table; None where none of this name is there."""
        return self._tables.get(self.name(table))

    def put(self, table: TableId, known: Known | None) -> None:
        """Enter a table, or take it out."""
        if known is None:
            self._tables.pop(self.name(table), None)
        else:
            self._tables[self.name(table)] = known

    def put_database(self, database: str, charset: str | None) -> None:
        """Enter a database's character set, or take the database out."""
        if charset is None:
            self._databases.pop(database, None)
        else:
            self._databases[database] = charset

    def name(self, table: TableId) -> TableId:
        """The name under which a table is entered."""
        return TableId(table.database.lower(), table.table.lower()) if self._folds else table

    def apply(self, statement: Statement, ddl: Ddl) -> list[TableId]:
        """Follow one statement; the names of what it may have changed, under which `of` and `databases` say what is there now."""
        if not ddl.is_ddl or not ddl.kind:
            return []
        cursor = TokenCursor(tokenize(statement.sql), statement.database)
        if cursor.accept("SET", "STATEMENT"):
            cursor.skip_to("FOR")
        if not ddl.tables:
            return self._database(cursor, ddl)
        if ddl.tables[0].database.lower() in _SYSTEM:
            return []
        match cursor.word():
            case "CREATE" if ddl.kind is StatementKind.CREATE:
                self._create(cursor, ddl)
            case "DROP" if ddl.kind is StatementKind.ERASE:
                for table in ddl.tables:
                    self.put(table, None)
            case "RENAME":
                self._rename([name.id for name in ddl.written])
            case "ALTER":
                return self._alter(cursor, ddl)
            case "DROP" if ddl.kind is StatementKind.DROP_INDEX:
                self._drop_index(cursor, ddl.tables[0])
            case _:
                return []
        return [self.name(table) for table in ddl.tables]

    def _create(self, cursor: TokenCursor, ddl: Ddl) -> None:
        table = ddl.tables[0]
        cursor.skip_to("TABLE")
        if cursor.accept("IF", "NOT", "EXISTS") and self.of(table) is not None:
            return  # servers log the statement also when it changed nothing
        cursor.table()
        self.put(table, self._created(cursor, table.database))

    def _created(self, cursor: TokenCursor, database: str) -> Known:
        if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
            model = cursor.table()
            found = self.of(model.id) if model is not None else None
            return found if found is not None else "it was made like a table that is not known"
        described = created_table(cursor, self._databases.get(database), mariadb=self.mariadb) if cursor.accept("(") else None
        return described if described is not None else "its columns come from a query, or its statement could not be read"

    def _rename(self, names: Iterable[TableId]) -> None:
        """Move what is known, pair by pair: the new name stands before the old one."""
        pairs = list(names)
        for new, old in zip(pairs[::2], pairs[1::2], strict=False):
            known = self.of(old)
            self.put(old, None)
            self.put(new, known if known is not None else "it was renamed from a table that is not known")

    def _alter(self, cursor: TokenCursor, ddl: Ddl) -> list[TableId]:
        cursor.skip_to("TABLE")
        cursor.accept("IF", "EXISTS")
        written = cursor.table()
        if written is None:
            return []
        if not cursor.accept("NOWAIT") and cursor.accept("WAIT"):
            cursor.take()
        known = self.of(written.id)
        after = self._altered(known if isinstance(known, DescribedTable) else _NO_COLUMNS, cursor)
        new = next((table for table in ddl.tables if table != written.id), written.id)
        if new == written.id and after in (known, _NO_COLUMNS):
            return []  # an index, a partition, an engine
        self.put(written.id, None)
        self.put(new, after if isinstance(known, DescribedTable) else known or "it was altered before anything was known of it")
        return [self.name(table) for table in dict.fromkeys((new, written.id))]

    def _altered(self, table: DescribedTable, cursor: TokenCursor) -> Known:
        try:
            return altered(table, cursor, mariadb=self.mariadb)
        except NotFollowed as exc:
            return f"an ALTER TABLE could not be followed: {exc}"

    def _drop_index(self, cursor: TokenCursor, table: TableId) -> None:
        known = self.of(table)
        if isinstance(known, DescribedTable) and cursor.accept("DROP", "INDEX") and (cursor.name() or "").upper() == "PRIMARY":
            self.put(table, DescribedTable(known.columns, (), known.charset))

    def _database(self, cursor: TokenCursor, ddl: Ddl) -> list[TableId]:
        """CREATE, ALTER and DROP DATABASE; every other statement without a table changes none."""
        verb = cursor.word()
        cursor.take()
        cursor.accept("OR", "REPLACE")
        if not (cursor.accept("DATABASE") or cursor.accept("SCHEMA")) or not ddl.database:
            return []
        optional = cursor.accept("IF", "NOT", "EXISTS")
        gone: list[TableId] = []
        if verb == "DROP":
            gone = [table for table in self._tables if table.database == self.name(TableId(ddl.database, "")).database]
            for table in gone:
                self.put(table, None)
            self.put_database(ddl.database, None)
        else:
            charset: str | None = None
            while cursor.token is not None:
                charset = option_charset(cursor) or charset
            charset = charset or (self._server_charset if verb == "CREATE" else None)
            if charset is not None and not (optional and ddl.database in self._databases):
                self.put_database(ddl.database, charset)
        return [TableId(ddl.database, ""), *gone]

"""The tables of a source, kept up to date by the DDL statements in its binlog."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from relay.model.change import Statement
from relay.model.sql_mode import SqlMode
from relay.model.table import TableId
from relay.schema.ddl import Ddl
from relay.schema.history.alter.alter_statements import altered, with_created_index, without_index
from relay.schema.history.column_words import charset_name
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.known_tables import Known, KnownTables
from relay.schema.history.sequences import altered_sequence, is_sequence, sequence
from relay.schema.history.table_elements import DEFAULT_CHARSET, created_table, option_charset
from relay.schema.sql.set_statement import sets_sql_mode
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.statement_kind import StatementKind

# Stands for an unknown table, to find out whether a statement changes its columns or indexes.
_NOT_KNOWN: Final = DescribedTable((), ("",), indexes=())
_ORACLE_WITHOUT_TYPES: Final = SqlMode.DB2
"""The mode ORACLE without its effect on types: servers omit the options of tables."""
_SYSTEM: Final = frozenset({"mysql", "information_schema", "performance_schema", "sys"})


class FollowedTables(KnownTables):
    """All tables at one position of the binlog. `apply` moves it over the next DDL statement.

    A statement with an uncertain effect makes only its own table unknown.

    mariadb           whether the server is MariaDB
    server_charset    default character set of databases whose statement names none
    folds_case        the server compares table names case-insensitively
    has_oracle_types  sql_mode=ORACLE changes types, as in MariaDB since 10.3
    """

    def __init__(
        self,
        *,
        mariadb: bool,
        server_charset: str | None = None,
        folds_case: bool = False,
        has_oracle_types: bool = True,
    ) -> None:
        super().__init__(folds_case=folds_case)
        self.mariadb = mariadb
        self._has_oracle_types = has_oracle_types
        self._server_charset = charset_name(server_charset) if server_charset is not None else None

    def apply(self, statement: Statement, ddl: Ddl) -> list[TableId]:
        """Apply one statement; return the tables and databases that it may have changed.

        In the result, a database is a table without a name. `of` and `databases` have the new
        states. A table that was unknown stays unknown, and is in the result even if only its
        indexes changed.
        """
        if not ddl.is_ddl or not ddl.kind:
            return []
        if statement.failed and ddl.tables:
            there = [table for table in ddl.tables if self.of(table) is not None]
            self.doubt(there, "a statement that names it failed on the source")
            return [self.name(table) for table in ddl.tables]
        if not self._has_oracle_types and SqlMode.ORACLE in statement.sql_mode:
            statement = statement._replace(
                sql_mode=statement.sql_mode & ~SqlMode.ORACLE | _ORACLE_WITHOUT_TYPES
            )
        changed = self._apply(statement, ddl)
        if (
            ddl.tables
            and ddl.kind is not StatementKind.ERASE
            and sets_sql_mode(TokenCursor.of(statement))
        ):
            self.doubt(
                ddl.tables,
                "its statement sets an sql_mode, and was parsed under another one",
            )
            return [self.name(table) for table in ddl.tables]
        return changed

    def _apply(self, statement: Statement, ddl: Ddl) -> list[TableId]:
        cursor = TokenCursor.of(statement, mariadb=self.mariadb)
        if cursor.accept("SET", "STATEMENT"):
            cursor.skip_to("FOR")
        if not ddl.tables:
            return self._database(cursor, ddl, statement.server_charset or self._server_charset)
        if ddl.tables[0].database.lower() in _SYSTEM:
            return []
        if ddl.kind is StatementKind.QUERY:
            return self._sequence(cursor, ddl)
        return self._apply_to_tables(cursor, ddl)

    def _apply_to_tables(self, cursor: TokenCursor, ddl: Ddl) -> list[TableId]:
        """Apply a statement about tables; return those that it may have changed."""
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
                return self._index(without_index, cursor, ddl.tables[0])
            case "CREATE" if ddl.kind is StatementKind.CREATE_INDEX:
                return self._index(with_created_index, cursor, ddl.tables[0])
            case _:
                return []
        return [self.name(table) for table in ddl.tables]

    def _create(self, cursor: TokenCursor, ddl: Ddl) -> None:
        table = ddl.tables[0]
        cursor.skip_to("TABLE")
        if cursor.accept("IF", "NOT", "EXISTS") and self.of(table) is not None:
            return  # servers also log the statement if it changed nothing
        cursor.table()
        self.put(table, self._created(cursor, table.database))

    def _created(self, cursor: TokenCursor, database: str) -> Known:
        if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
            model = cursor.table()
            found = self.of(model.id) if model is not None else None
            return found if found is not None else "it was created LIKE a table that is not known"
        try:
            described = (
                created_table(cursor, self.databases.get(database), mariadb=self.mariadb)
                if cursor.accept("(")
                else None
            )
        except NotFollowed as exc:
            return f"a CREATE TABLE could not be followed: {exc}"
        return (
            described
            if described is not None
            else "its columns come from a query, or its statement could not be read"
        )

    def _sequence(self, cursor: TokenCursor, ddl: Ddl) -> list[TableId]:
        """Apply CREATE, ALTER and DROP SEQUENCE of MariaDB. These statements do not name the
        columns of a sequence.
        """
        verb = cursor.word()
        cursor.take()
        replaced = cursor.accept("OR", "REPLACE")
        if not cursor.accept("SEQUENCE"):
            return []
        cursor.skip("IF", "NOT", "EXISTS")
        cursor.table()
        for table in ddl.tables:
            known = self.of(table)
            if verb == "DROP":
                # Servers log the statement even if IF EXISTS found a table that is not a sequence.
                self.put(
                    table,
                    known if isinstance(known, DescribedTable) and not is_sequence(known) else None,
                )
            elif verb == "ALTER" and isinstance(known, DescribedTable):
                self.put(table, altered_sequence(known, cursor))
            elif verb == "CREATE" and (replaced or known is None):
                self.put(table, sequence(cursor, self.databases.get(table.database)))
        return [self.name(table) for table in ddl.tables]

    def _rename(self, names: Iterable[TableId]) -> None:
        """Apply renames one by one. In `names` the new name precedes the old one."""
        pairs = list(names)
        for new, old in zip(pairs[::2], pairs[1::2], strict=False):
            known = self.of(old)
            self.put(old, None)
            self.put(
                new, known if known is not None else "it was renamed from a table that is not known"
            )

    def _alter(self, cursor: TokenCursor, ddl: Ddl) -> list[TableId]:
        cursor.skip_to("TABLE")
        cursor.accept("IF", "EXISTS")
        written = cursor.table()
        if written is None:
            return []
        if not cursor.accept("NOWAIT") and cursor.accept("WAIT"):
            cursor.take()
        known = self.of(written.id)
        if cursor.accept("CONVERT", "TABLE"):
            return self._moved_partition(cursor, None)
        if cursor.accept("CONVERT", "PARTITION"):
            cursor.skip_to("TABLE")
            return self._moved_partition(
                cursor, known or "it was a partition of a table that is not known"
            )
        before = known if isinstance(known, DescribedTable) else _NOT_KNOWN
        after = self._altered(before, cursor, self.databases.get(written.id.database))
        new = next((table for table in ddl.tables if table != written.id), written.id)
        if new == written.id and after == before:
            return []  # a partition, an engine
        if new == written.id and known is None and _differ_in_indexes(after):
            return [self.name(written.id)]
        self.put(written.id, None)
        self.put(
            new,
            after
            if isinstance(known, DescribedTable)
            else known or "it was altered before its definition was known",
        )
        return [self.name(table) for table in dict.fromkeys((new, written.id))]

    def _moved_partition(self, cursor: TokenCursor, known: Known | None) -> list[TableId]:
        """Apply MariaDB's CONVERT between a partition and a table. `known` is the description of
        the table afterwards.
        """
        table = cursor.table()
        if table is None:
            return []
        self.put(table.id, known)
        return [self.name(table.id)]

    def _altered(
        self, table: DescribedTable, cursor: TokenCursor, database_charset: str | None
    ) -> Known:
        try:
            return altered(table, cursor, mariadb=self.mariadb, database_charset=database_charset)
        except NotFollowed as exc:
            return f"an ALTER TABLE could not be followed: {exc}"

    def _index(
        self, applied: Callable[..., DescribedTable], cursor: TokenCursor, table: TableId
    ) -> list[TableId]:
        """Apply CREATE INDEX or DROP INDEX."""
        known = self.of(table)
        before = known if isinstance(known, DescribedTable) else _NOT_KNOWN
        try:
            after: Known = applied(before, cursor, mariadb=self.mariadb)
        except NotFollowed as exc:
            after = f"a statement about an index could not be followed: {exc}"
        if after == before:
            return []
        if isinstance(known, DescribedTable):
            self.put(table, after)
        elif known is None and not _differ_in_indexes(after):
            self.put(table, "its primary key was dropped before its definition was known")
        return [self.name(table)]

    def _database(self, cursor: TokenCursor, ddl: Ddl, server_charset: str | None) -> list[TableId]:
        """Apply CREATE, ALTER and DROP DATABASE. All other statements without a table change
        nothing.
        """
        verb = cursor.word()
        cursor.take()
        cursor.accept("OR", "REPLACE")
        if not (cursor.accept("DATABASE") or cursor.accept("SCHEMA")) or not ddl.database:
            return []
        exists = cursor.accept("IF", "NOT", "EXISTS") and (
            ddl.database in self.databases or bool(self.tables_of(ddl.database))
        )
        gone: list[TableId] = []
        if verb == "DROP":
            gone = self.tables_of(ddl.database)
            for table in gone:
                self.put(table, None)
            self.put_database(ddl.database, None)
        elif not exists:
            before = None if verb == "CREATE" else self.databases.get(ddl.database)
            charset = _database_charset(cursor, DEFAULT_CHARSET if verb == "CREATE" else before)
            if charset == DEFAULT_CHARSET:
                # MariaDB 10.5 does not change the database here, and later releases do.
                charset = (
                    server_charset
                    if verb == "CREATE" or not self.mariadb or server_charset == before
                    else None
                )
            self.put_database(ddl.database, charset)
        return [TableId(ddl.database, ""), *gone]


def _database_charset(cursor: TokenCursor, otherwise: str | None) -> str | None:
    """Return the character set in the options of a database, or `otherwise` if they have none.

    None if it is uncertain.
    """
    charset = None
    try:
        while cursor.token is not None:
            charset = option_charset(cursor) or charset
    except NotFollowed:
        return None
    return charset or otherwise


def _differ_in_indexes(after: Known) -> bool:
    """Return whether a statement on an unknown table changes only indexes."""
    return (
        isinstance(after, DescribedTable)
        and replace(after, indexes=_NOT_KNOWN.indexes) == _NOT_KNOWN
    )

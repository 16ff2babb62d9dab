"""The tables of a source as statement after statement makes them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from relay.model.change import Statement
from relay.model.sql_mode import SqlMode
from relay.model.table import TableId
from relay.schema.ddl import Ddl
from relay.schema.history.alter.alter_statements import altered, with_created_index, without_index
from relay.schema.history.column_words import charset_name
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.elements import DEFAULT_CHARSET, created_table, option_charset
from relay.schema.history.sequences import altered_sequence, is_sequence, sequence
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.statement_kind import StatementKind

Known: TypeAlias = DescribedTable | str
"""A table, or why nothing certain is known of it."""

# Stands for a table that is not known: no statement speaks of a column or an index without changing
# it.
_NOT_KNOWN: Final = DescribedTable((), ("",), indexes=())
_ORACLE_WITHOUT_TYPES: Final = SqlMode.DB2
"""The mode that changes what ORACLE changes besides types: servers leave the options of tables
out.
"""
_SYSTEM: Final = frozenset({"mysql", "information_schema", "performance_schema", "sys"})


class Schemas:
    """All tables at one place of the binlog.

    What a statement leaves unclear makes its table unknown, and nothing else.

    `databases` holds the character set of each database, entered under a table without a name in
    what `apply` returns. `server_charset` is that of databases that name none, where their
    statement does not say it. `folds_case` says that the server takes names of tables for the same
    in any case. `has_oracle_types` says that sql_mode=ORACLE changes types, as in MariaDB since
    10.3.
    """

    def __init__(
        self,
        *,
        mariadb: bool,
        server_charset: str | None = None,
        folds_case: bool = False,
        has_oracle_types: bool = True,
    ) -> None:
        self.mariadb = mariadb
        self._has_oracle_types = has_oracle_types
        self._server_charset = charset_name(server_charset) if server_charset is not None else None
        self._folds = folds_case
        self._tables: dict[TableId, Known] = {}
        self._databases: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def tables(self) -> Mapping[TableId, Known]:
        """Return the description of each table, or the reason why it is unknown."""
        return self._tables

    @property
    def databases(self) -> Mapping[str, str]:
        """Return the default character set of each database."""
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
        """Follow one statement.

        The names of what it may have changed, under which `of` and `databases` say what is there
        now.

        A table of which nothing is known, and of which only indexes are changed, is named and stays
        as it is: None.
        """
        if not ddl.is_ddl or not ddl.kind:
            return []
        if statement.failed and ddl.tables:
            there = [table for table in ddl.tables if self.of(table) is not None]
            self._doubt(there, "a statement that names it failed on the source")
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
            self._doubt(
                ddl.tables,
                "its statement sets an sql_mode that the statement itself was not read in",
            )
            return [self.name(table) for table in ddl.tables]
        return changed

    def _doubt(self, tables: Iterable[TableId], reason: str) -> None:
        """Forget what is known of these tables."""
        for table in tables:
            self.put(table, reason)

    def _tables_of(self, database: str) -> list[TableId]:
        return [
            table
            for table in self._tables
            if table.database == self.name(TableId(database, "")).database
        ]

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
            return  # servers log the statement also when it changed nothing
        cursor.table()
        self.put(table, self._created(cursor, table.database))

    def _created(self, cursor: TokenCursor, database: str) -> Known:
        if cursor.accept("LIKE") or cursor.accept("(", "LIKE"):
            model = cursor.table()
            found = self.of(model.id) if model is not None else None
            return found if found is not None else "it was made like a table that is not known"
        try:
            described = (
                created_table(cursor, self._databases.get(database), mariadb=self.mariadb)
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
        """CREATE, ALTER and DROP SEQUENCE of MariaDB, whose tables have columns that no statement
        names.
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
                # Servers log the statement also where IF EXISTS found a table that is no sequence.
                self.put(
                    table,
                    known if isinstance(known, DescribedTable) and not is_sequence(known) else None,
                )
            elif verb == "ALTER" and isinstance(known, DescribedTable):
                self.put(table, altered_sequence(known, cursor))
            elif verb == "CREATE" and (replaced or known is None):
                self.put(table, sequence(cursor, self._databases.get(table.database)))
        return [self.name(table) for table in ddl.tables]

    def _rename(self, names: Iterable[TableId]) -> None:
        """Move what is known, pair by pair: the new name stands before the old one."""
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
        after = self._altered(before, cursor, self._databases.get(written.id.database))
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
            else known or "it was altered before anything was known of it",
        )
        return [self.name(table) for table in dict.fromkeys((new, written.id))]

    def _moved_partition(self, cursor: TokenCursor, known: Known | None) -> list[TableId]:
        """Apply MariaDB's CONVERT of a partition to a table or back: `known` is what the table is
        afterwards.
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
            self.put(table, "its primary key was dropped before anything was known of it")
        return [self.name(table)]

    def _database(self, cursor: TokenCursor, ddl: Ddl, server_charset: str | None) -> list[TableId]:
        """CREATE, ALTER and DROP DATABASE; every other statement without a table changes none."""
        verb = cursor.word()
        cursor.take()
        cursor.accept("OR", "REPLACE")
        if not (cursor.accept("DATABASE") or cursor.accept("SCHEMA")) or not ddl.database:
            return []
        exists = cursor.accept("IF", "NOT", "EXISTS") and (
            ddl.database in self._databases or bool(self._tables_of(ddl.database))
        )
        gone: list[TableId] = []
        if verb == "DROP":
            gone = self._tables_of(ddl.database)
            for table in gone:
                self.put(table, None)
            self.put_database(ddl.database, None)
        elif not exists:
            before = None if verb == "CREATE" else self._databases.get(ddl.database)
            charset = _database_charset(cursor, DEFAULT_CHARSET if verb == "CREATE" else before)
            if charset == DEFAULT_CHARSET:
                # MariaDB 10.5 leaves a database as it is, and later releases do not.
                charset = (
                    server_charset
                    if verb == "CREATE" or not self.mariadb or server_charset == before
                    else None
                )
            self.put_database(ddl.database, charset)
        return [TableId(ddl.database, ""), *gone]


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


def _database_charset(cursor: TokenCursor, otherwise: str | None) -> str | None:
    """The character set that the options of a database name, or `otherwise`.

    None where that is not certain.
    """
    charset = None
    try:
        while cursor.token is not None:
            charset = option_charset(cursor) or charset
    except NotFollowed:
        return None
    return charset or otherwise


def _differ_in_indexes(after: Known) -> bool:
    """Whether a statement on a table that is not known changes nothing but indexes."""
    return (
        isinstance(after, DescribedTable)
        and replace(after, indexes=_NOT_KNOWN.indexes) == _NOT_KNOWN
    )

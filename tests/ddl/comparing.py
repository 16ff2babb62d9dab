"""Runs random statements, follows what the server logs of them, and compares with the catalogue
after each.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pymysql
from pymysql.connections import Connection

from deploy.embedded import SqlServer
from relay.model.table import TableId
from relay.schema import CatalogReader, FollowedTables, classify
from relay.schema.history import DescribedTable
from relay.schema.history.described import DescribedIndex
from relay.source import end_of_binlog, statements_between
from tests.ddl.statements import Made, StatementMaker
from tests.support.sources.source_reading import source_settings


@dataclass(slots=True)
class Comparison:
    """What came of a run: statements carried out and refused, tables that became unknown, and what
    was followed wrongly, in words.

    `reasons` holds the statements after which tables were unknown, by the reason.
    """

    carried_out: int = 0
    refused: int = 0
    unknown: int = 0
    reasons: dict[str, list[str]] = field(default_factory=dict)
    keys_unknown: int = 0
    wrong: list[str] = field(default_factory=list)


def alike(known: object, found: object) -> bool:
    """Whether both say the same of columns, primary key and unique keys.

    Where a statement leaves it open whether a column holds NULL, both answers are right. Keys that
    are not known are not compared.
    """
    if (
        not isinstance(known, DescribedTable)
        or not isinstance(found, DescribedTable)
        or len(known.columns) != len(found.columns)
    ):
        return known == found
    pairs = zip(known.columns, found.columns, strict=True)
    closed = tuple(
        replace(mine, nullable=theirs.nullable) if mine.nullable is None else mine
        for mine, theirs in pairs
    )
    same_keys = known.indexes is None or unique_keys(known) == unique_keys(found)
    return same_keys and replace(known, columns=closed, indexes=found.indexes) == found


def unique_keys(table: DescribedTable) -> list[DescribedIndex]:
    """The unique keys in the server's order."""
    return [index for index in table.indexes or () if index.unique]


def difference(known: object, found: object) -> str:
    """What differs, in lines; all of it where one of both is no table or has other columns."""
    if not isinstance(known, DescribedTable) or not isinstance(found, DescribedTable):
        return f"    followed  {known}\n    catalogue {found}"
    names = [[column.name for column in table.columns] for table in (known, found)]
    if names[0] != names[1]:
        return f"    followed  {names[0]}\n    catalogue {names[1]}"
    pairs: list[tuple[object, object]] = [
        (mine, theirs)
        for mine, theirs in zip(known.columns, found.columns, strict=True)
        if mine != theirs
    ]
    others = replace(known, columns=(), indexes=None), replace(found, columns=(), indexes=None)
    pairs += [others] if others[0] != others[1] else []
    keys = unique_keys(known), unique_keys(found)
    pairs += [keys] if known.indexes is not None and keys[0] != keys[1] else []
    return "\n".join(f"    followed  {mine}\n    catalogue {theirs}" for mine, theirs in pairs)


def compare(
    server: SqlServer,
    database: str,
    seed: int,
    statements: int,
    progress: Callable[[Comparison], None] = lambda _: None,
) -> Comparison:
    """Carry out so many statements in a database of its own, which is made and dropped here."""
    server.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
    try:
        with server.connect(database=database) as connection:
            run = _Run(server, connection, database, seed)
            while run.came.carried_out < statements:
                run.step()
                progress(run.came)
            return run.came
    finally:
        server.execute(f"DROP DATABASE {database}", f"DROP DATABASE IF EXISTS {database}_2")


class _Run:
    """One run.

    After each statement the catalogue's tables become what is known, so that each difference counts
    once.
    """

    def __init__(
        self, server: SqlServer, connection: "Connection[Any]", database: str, seed: int
    ) -> None:
        self.came = Comparison()
        self._connection = connection
        self._database = database
        self._databases = (database, f"{database}_2")
        self._settings = source_settings(server)
        self._catalog = CatalogReader(self._settings)
        self._maker = StatementMaker(server.family, server.version, Random(seed), self._databases)
        self._schemas = FollowedTables(
            mariadb=server.family == "mariadb",
            server_charset="utf8mb4",
            has_oracle_types=server.version >= (10, 3, 0),
        )
        self._schemas.put_database(database, "utf8mb4")
        self._end = end_of_binlog(self._settings)
        self._refusal: list[str] = []
        self._logged: list[str] = []

    def step(self) -> None:
        """Carry out one statement and compare."""
        before = {
            table: known for table, known in self._known() if isinstance(known, DescribedTable)
        }
        made = self._maker.make(
            {
                table.table: known
                for table, known in before.items()
                if table.database == self._database
            }
        )
        taken = self._carry_out(made)
        self.came.carried_out += taken
        self.came.refused += not taken
        after, self._end = self._end, end_of_binlog(self._settings)
        passing = FollowedTables(mariadb=self._schemas.mariadb)
        named: dict[TableId, bool] = {}
        self._logged.clear()
        for statement, _, _ in statements_between(self._settings, after, self._end):
            if statement.sql != made.sql or statement.failed:
                self._logged.append(f"logged{' as failed' * statement.failed}: {statement.sql}")
            self._schemas.apply(statement, classify(statement))
            for table in passing.apply(statement, classify(statement)):
                named[table] = (
                    named.get(table, True) and passing.of(table) is None and not statement.failed
                )
        self._compare(made, before, named)

    def _carry_out(self, made: Made) -> bool:
        self._refusal = []
        with self._connection.cursor() as cursor:
            for setting in made.settings:
                with suppress(pymysql.err.MySQLError):  # old releases do not have all of them
                    cursor.execute(f"SET SESSION {setting}")
            try:
                cursor.execute(made.sql)
            except (pymysql.err.MySQLError, UnicodeError) as exc:
                self._refusal = [f"refused: {exc}"]
                return False
            finally:
                for shadow in made.shadows:
                    cursor.execute(f"DROP TEMPORARY TABLE IF EXISTS {shadow}")
        return True

    def _known(self) -> Iterator[tuple[TableId, object]]:
        return (
            (table, known)
            for table, known in sorted(self._schemas.tables.items())
            if table.database in self._databases
        )

    def _compare(
        self, made: Made, before: Mapping[TableId, DescribedTable], named: Mapping[TableId, bool]
    ) -> None:
        snapshot = self._catalog.snapshot()
        found = {
            table: known
            for table, known in snapshot.tables.items()
            if table.database in self._databases
        }
        known = dict(self._known())
        for table in sorted(known.keys() | found.keys()):
            self._compare_table(made, table, known.get(table), found.get(table))
            self._compare_names(made, table, before.get(table), found.get(table), named.get(table))
        for database in self._databases:
            charset = snapshot.databases.get(database)
            if self._schemas.databases.get(database, charset) != charset:
                self._differs(
                    made,
                    (
                        f"{database} has {charset}, and {self._schemas.databases.get(database)} "
                        f"is known"
                    ),
                )
            self._schemas.put_database(database, charset)

    def _compare_names(
        self,
        made: Made,
        table: TableId,
        before: DescribedTable | None,
        found: DescribedTable | None,
        of_indexes: bool | None,
    ) -> None:
        """Compare with what a reader says to whom no table is known.

        `of_indexes`: it names the table, and changes of indexes alone.
        """
        if of_indexes is None and before != found:
            self._differs(made, f"{table} has changed, and is not named")
        if (
            of_indexes
            and before is not None
            and found is not None
            and replace(before, indexes=None) != replace(found, indexes=None)
        ):
            self._differs(
                made, f"{table} is said to have other indexes alone\n{difference(before, found)}"
            )

    def _compare_table(
        self, made: Made, table: TableId, known: object, found: DescribedTable | None
    ) -> None:
        if isinstance(known, str):
            self.came.unknown += 1
            self.came.reasons.setdefault(known, []).append(made.sql)
        elif not alike(known, found) and not self._keys_are_virtual(known, found):
            self._differs(made, f"{table}\n{difference(known, found)}")
        elif isinstance(known, DescribedTable) and known.indexes is None:
            self.came.keys_unknown += 1
        self._schemas.put(table, found)

    def _keys_are_virtual(self, known: object, found: object) -> bool:
        """Whether they differ in the order of unique keys alone, and MySQL puts those over virtual
        columns last, which no history keeps.
        """
        if (
            self._schemas.mariadb
            or not isinstance(known, DescribedTable)
            or not isinstance(found, DescribedTable)
        ):
            return False
        if known.indexes is None or not self._has_virtual_columns(found):
            return False
        in_order = replace(known, indexes=tuple(sorted(unique_keys(known), key=repr)))
        return alike(in_order, replace(found, indexes=tuple(sorted(unique_keys(found), key=repr))))

    def _has_virtual_columns(self, found: DescribedTable) -> bool:
        with self._connection.cursor() as cursor:
            cursor.execute(
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE EXTRA LIKE %s",
                ("%VIRTUAL GENERATED%",),
            )
            virtual = {str(name).lower() for (name,) in cursor.fetchall()}
        return any(
            virtual & {name.lower() for name in index.columns} for index in unique_keys(found)
        )

    def _differs(self, made: Made, what: str) -> None:
        self.came.wrong.append(
            "\n  ".join(["; ".join(made.settings), made.sql, *self._refusal, *self._logged, what])
        )

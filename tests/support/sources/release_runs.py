"""Statements for a server of any release: the zoo of types, and random tables. Statements that the
release refuses are left out.
"""

import itertools
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pymysql
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisDeprecationWarning
from pymysql.cursors import Cursor

from deploy.embedded import DebianMariaDB, MariaDB, MySQL, MySQL56, SqlServer
from deploy.embedded.catalogue import RELEASES, releases_here
from tests.support.rows.type_zoo import ZooStatement, statements
from tests.types.made_tables import Change, MadeTable, made_tables

_STANDARD: Final[Sequence[type[SqlServer]]] = (MySQL56, MySQL, DebianMariaDB, MariaDB)
KINDS: Final[Mapping[str, type[SqlServer]]] = {
    kind.name: kind for kind in (*_STANDARD, *RELEASES.values())
}
_SMALLEST: Final = "mysql-5.7"

# Changes without row events: rows logged as text or not at all.
_LOGGED_OTHERWISE: Final = (*range(391, 398), *range(417, 420))
_LAST: Final = 432
_CASCADED: Final = "chi"
"""A table of the zoo whose rows InnoDB changes by itself, with those of another table: most
releases log nothing of that.
"""
_NOT_WHOLE: Final = {"mariadb-10.2": "t_gen", "mariadb-11.8": "t_gen"}
"""Tables of which a release logs less than they hold (docs/types/binlog-gaps.md)."""

_METADATA_FROM: Final = {"mysql": (8, 0, 1), "mariadb": (10, 5, 0)}
_COMPRESSION: Final[Mapping[str, tuple[tuple[int, int, int], Mapping[str, str | int]]]] = {
    "mysql": ((8, 0, 20), {"binlog_transaction_compression": "ON"}),
    "mariadb": ((10, 2, 3), {"log_bin_compress": "ON", "log_bin_compress_min_len": 10}),
}
_GTIDS_FROM: Final = {"mysql": (5, 6, 5), "mariadb": (10, 0, 2)}


def variants(kind: type[SqlServer]) -> Mapping[str, Mapping[str, Any]]:
    """Return the ways to run a release, by name, with their server options: names in the binlog and
    compressed events where it has them.
    """
    since, compressed = _COMPRESSION[kind.family]
    packed = compressed if kind.version >= since else {}
    if kind.version < _METADATA_FROM[kind.family]:
        return {"bare": packed}
    return {
        "bare": {"binlog_row_metadata": "NO_LOG" if kind.family == "mariadb" else "MINIMAL"},
        "named": packed,
    }


def has_gtids(kind: type[SqlServer]) -> bool:
    return kind.version >= _GTIDS_FROM[kind.family]


def asked() -> list[tuple[str, str]]:
    """Return release and variant of every run: those that SERVERS names (`all`, or names with
    commas), else one of today.
    """
    wanted = os.environ.get("SERVERS", "")
    if wanted:
        names = list(KINDS) if wanted == "all" else wanted.split(",")
        return [(name, variant) for name in names for variant in variants(KINDS[name])]
    here = [name for name in releases_here() if name in RELEASES] or [_SMALLEST]
    every = [(name, variant) for name in here for variant in variants(KINDS[name])]
    return [every[int(os.environ.get("SEED", datetime.now(UTC).toordinal())) % len(every)]]


def zoo(server: SqlServer, database: str) -> list[ZooStatement]:
    """Return the statements about types and shapes of change, all in one database."""
    found = []
    for statement in statements(server.family):
        if (
            statement.number > _LAST
            or statement.number in _LOGGED_OTHERWISE
            or statement.sql.startswith("CREATE DATABASE")
        ):
            continue
        found.append(
            ZooStatement(
                statement.number,
                re.sub(r"\bzoo_(types|dml)\b", database, statement.sql),
                statement.fails,
            )
        )
    return found


def carry_out(cursor: Cursor, wanted: Sequence[ZooStatement]) -> int:
    """Run statements; return how many the server accepted."""
    taken = 0
    for statement in wanted:
        taken += _accepted(cursor, statement.sql)
    return taken


def make_tables(server: SqlServer, database: str, number: int, seed_number: int) -> int:
    """Create random tables `made_0` and on, and insert and change rows in them.

    Return how many of them the release can create.
    """
    made: list[MadeTable] = []

    @seed(seed_number)
    @settings(
        max_examples=number,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(table=made_tables(server.family))
    def collect(table: MadeTable) -> None:
        made.append(table)

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", HypothesisDeprecationWarning
        )  # a thread of another library draws numbers meanwhile
        collect()
    with server.connect() as connection, connection.cursor() as cursor:
        return sum(_make(cursor, f"{database}.made_{at}", table) for at, table in enumerate(made))


class XaRows:
    """XA transactions on the table `xa_rows` over a separate connection: old releases roll back a
    prepared one when its connection closes.
    """

    def __init__(self, server: SqlServer, database: str) -> None:
        self._connection = server.connect(database=database)
        self._rows = itertools.count()

    def __enter__(self) -> "XaRows":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def prepare(self, xid: str) -> None:
        """Insert rows, change one, and prepare the transaction."""
        self._change(xid)
        self._execute(f"XA PREPARE '{xid}'")

    def commit_at_once(self, xid: str) -> None:
        """Commit a transaction in one phase."""
        self._change(xid)
        self._execute(f"XA COMMIT '{xid}' ONE PHASE")

    def commit(self, xid: str) -> None:
        self._execute(f"XA COMMIT '{xid}'")

    def roll_back(self, xid: str) -> None:
        self._execute(f"XA ROLLBACK '{xid}'")

    def _change(self, xid: str) -> None:
        one, other = next(self._rows), next(self._rows)
        changes = (
            f"INSERT INTO xa_rows VALUES ({one}, 1), ({other}, 1)",
            f"UPDATE xa_rows SET n = 2 WHERE id = {other}",
        )
        self._execute(f"XA START '{xid}'", *changes, f"XA END '{xid}'")

    def _execute(self, *statements: str) -> None:
        with self._connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)


def tables_of(server: SqlServer, database: str) -> Iterator[str]:
    """Yield the tables whose rows are compared."""
    left_out = {_CASCADED, _NOT_WHOLE.get(server.name)}
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SHOW FULL TABLES IN {database}")
        yield from (
            str(name)
            for name, kind in cursor.fetchall()
            if kind == "BASE TABLE" and name not in left_out
        )


def _make(cursor: Cursor, name: str, made: MadeTable) -> bool:
    _accepted(cursor, "SET sql_mode = '', time_zone = '+00:00'")
    # A table without a key needs whole images: a consumer finds its rows by all their columns.
    _accepted(cursor, f"SET binlog_row_image = '{made.image}'")
    columns = ", ".join(
        f"c{number} {column.declared}" for number, column in enumerate(made.columns)
    )
    key = " PRIMARY KEY" if made.keyed else ""
    if not _accepted(
        cursor, f"CREATE TABLE {name} (id INT{key}, {columns}) ENGINE=InnoDB CHARACTER SET utf8mb4"
    ):
        return False
    for change in made.changes:
        _accepted(cursor, *_statement(change, name, made))
    return True


def _statement(change: Change, table: str, made: MadeTable) -> tuple[str, list[Any]]:
    if change.inserted:
        row = f"({', '.join(['%s', *(column.sql for column in made.columns)])})"
        values = [value for number, each in enumerate(change.inserted) for value in (number, *each)]
        return f"INSERT INTO {table} VALUES {', '.join([row] * len(change.inserted))}", values
    if change.assigned is None:
        return f"DELETE FROM {table} WHERE id = %s", [change.number]
    columns = ", ".join(f"c{number} = {made.columns[number].sql}" for number in change.assigned)
    return f"UPDATE {table} SET {columns} WHERE id = %s", [*change.assigned.values(), change.number]


def _accepted(cursor: Cursor, sql: str, values: Sequence[Any] | None = None) -> bool:
    try:
        cursor.execute(sql, values)
    except pymysql.err.OperationalError as refusal:
        if refusal.args[0] in _CONNECTION_LOST:
            raise
        return False
    except pymysql.err.Error:
        return False
    return True


_CONNECTION_LOST: Final = frozenset({2003, 2006, 2013})

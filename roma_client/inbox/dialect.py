"""Builds the SQL statements of an inbox for each database, and hides the differences between DB-API
2.0 drivers.
"""

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from roma_client.errors import UsageError

Dialect: TypeAlias = Literal["postgresql", "mysql", "sqlite"]

_DIALECT_OF: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        "sqlite3": "sqlite",
        **dict.fromkeys(("pymysql", "MySQLdb", "mysql", "mariadb"), "mysql"),
        **dict.fromkeys(("psycopg", "psycopg2", "pg8000"), "postgresql"),
    }
)
_MARKS: Final = MappingProxyType({"qmark": "?", "format": "%s", "pyformat": "%s"})


class Cursor(Protocol):
    """The methods of a DB-API 2.0 cursor that an inbox uses."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows that the last statement changed."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Any:
        """Execute a statement."""

    def fetchone(self) -> Any:
        """Return the next row; None if there is none."""

    def close(self) -> Any:
        """Close the cursor."""


class Connection(Protocol):
    """The methods of a DB-API 2.0 connection that an inbox uses."""

    def cursor(self) -> Any:
        """Return a cursor."""

    def commit(self) -> Any:
        """Commit the transaction."""

    def rollback(self) -> Any:
        """Roll the transaction back."""


class Statements(NamedTuple):
    """The SQL statements of an inbox, with the driver's parameter markers.

    The inbox stores a position (`major`, `minor`) and the greatest execute time of an applied
    change (`newest`) for each `place`: a partition, a row, or an instance's transactions.

    create  creates the table if it is missing
    move    updates a position if the new one is greater; parameters: major, minor, newest, newest,
            subscription, place, major, major, minor
    add     inserts a place without a position; parameters: subscription, place
    seed    inserts a place with the position of a former release; parameters: subscription, place,
            subscription, place in the former release
    newest  reads `newest`; parameters: subscription, place
    """

    create: str
    move: str
    add: str
    seed: str
    newest: str


def dialect_of(connection: Connection) -> Dialect:
    """Return the dialect of a connection by its driver. Raises UsageError for an unknown one."""
    driver = type(connection).__module__.split(".")[0]
    if driver not in _DIALECT_OF:
        raise UsageError(
            f"The inbox cannot derive the SQL dialect from the driver {driver}.",
            'Give dialect="postgresql", "mysql" or "sqlite".',
        )
    return _DIALECT_OF[driver]


def statements(connection: Connection, dialect: Dialect, table: str) -> Statements:
    """Return the statements for an inbox table. Raises UsageError for a driver with other parameter
    markers.
    """
    driver = sys.modules[type(connection).__module__.split(".")[0]]
    style = getattr(driver, "paramstyle", "")
    if style not in _MARKS:
        raise UsageError(
            f"The driver {driver.__name__} has the paramstyle {style!r}.",
            "Use a driver with the paramstyle qmark, format or pyformat.",
        )
    ignore, conflict, latest = "", " ON CONFLICT DO NOTHING", ""
    if dialect == "mysql":  # a plain SELECT reads the state of the service's first one (InnoDB)
        ignore, conflict, latest = " IGNORE", "", " FOR UPDATE"
    made = Statements(
        _table(dialect, table),
        f"UPDATE {table} SET major = ?, minor = ?, "  # noqa: S608  # a checked name
        f"newest = CASE WHEN newest < ? THEN ? ELSE newest END "
        f"WHERE subscription = ? AND place = ? AND (major < ? OR (major = ? AND minor < ?))",
        f"INSERT{ignore} INTO {table} (subscription, place, major, minor, newest) "
        f"VALUES (?, ?, -1, -1, -1){conflict}",
        f"INSERT{ignore} INTO {table} (subscription, place, major, minor, newest) "  # noqa: S608
        f"SELECT ?, ?, major, minor, newest FROM {table} "
        f"WHERE subscription = ? AND place = ?{conflict}",
        f"SELECT newest FROM {table} WHERE subscription = ? AND place = ?{latest}",  # noqa: S608
    )
    return Statements(*(each.replace("?", _MARKS[style]) for each in made))


def _table(dialect: Dialect, table: str) -> str:
    exact, engine = "", ""
    if dialect == "mysql":  # names of topics differ by case
        exact, engine = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", " ENGINE=InnoDB"
    return (
        f"CREATE TABLE IF NOT EXISTS {table} (subscription VARCHAR(190){exact} NOT NULL, "
        f"place VARCHAR(300){exact} NOT NULL, major BIGINT NOT NULL, minor BIGINT NOT NULL, "
        f"newest BIGINT NOT NULL, PRIMARY KEY (subscription, place)){engine}"
    )


def commits_by_itself(connection: Any) -> bool:
    """Return whether the connection is in autocommit mode, in which each statement is a separate
    transaction.
    """
    if type(connection).__module__.split(".")[0] == "sqlite3":
        return connection.isolation_level is None or getattr(connection, "autocommit", -1) is True
    ask = getattr(connection, "get_autocommit", None)
    return bool(ask() if callable(ask) else getattr(connection, "autocommit", False))


def executed(cursor: Cursor, sql: str, parameters: Sequence[object]) -> int:
    """Execute a statement; return the number of rows that it changed."""
    cursor.execute(sql, tuple(parameters))
    return cursor.rowcount

"""What every workload shares: where it lies, how it ends, and what is known of the binlog it
wrote.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from deploy.embedded import SqlServer

SCHEMA: Final = "bench"
FINISH_SCHEMA: Final = "bench_end"
FINISH_TABLE: Final = "finish"
FINISH_ROWS: Final = 10
_STATUS: Final = {"mariadb": "SHOW MASTER STATUS", "mysql": "SHOW BINARY LOG STATUS"}


@dataclass(frozen=True, slots=True)
class Written:
    """A filled binlog: row changes before the finish line, its bytes, and the place after the
    tables were made.

    `gtids` is that place as MySQL's GTID set; empty for MariaDB.
    """

    changes: int
    binlog_bytes: int
    file: str
    offset: int
    gtids: str


class Workload(Protocol):
    """Known content for a binlog. `tables` are those of SCHEMA that it writes to."""

    @property
    def name(self) -> str:
        """Return the name that reports and the command line use."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the names of the tables of SCHEMA that rows are written to."""

    def create(self, database: SqlServer) -> None:
        """Make the tables; nothing is written to them yet."""

    def write(self, database: SqlServer, /) -> int:
        """Write; return how many row changes there were."""


def fill(database: SqlServer, workload: Workload) -> Written:
    """Write the workload between a row and, as the very last transaction, nine rows of a table of
    its own: start and finish line.

    The row at the start lets a relay make that topic before anything is timed. Nine, each of its
    own event, because it must be seen from end offsets alone that they are there: one row and the
    marker of its transaction never reach FINISH_ROWS.
    """
    for schema in (SCHEMA, FINISH_SCHEMA):
        database.execute(f"CREATE DATABASE {schema} CHARACTER SET utf8mb4")
    database.execute(f"CREATE TABLE {FINISH_SCHEMA}.{FINISH_TABLE} (id INT PRIMARY KEY)")
    workload.create(database)
    file, offset, gtids = place(database)
    line = f"INSERT INTO {FINISH_SCHEMA}.{FINISH_TABLE} VALUES"
    database.execute(f"{line} (0)")
    changes = workload.write(database)
    database.execute("BEGIN", *(f"{line} ({number})" for number in range(1, FINISH_ROWS)), "COMMIT")
    return Written(changes, _binlog_bytes(database), file, offset, gtids)


def place(database: SqlServer) -> tuple[str, int, str]:
    """The binlog's end: file, offset, and MySQL's GTID set."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(_STATUS[database.family])
        row = cursor.fetchone()
    assert row is not None, "the server writes no binlog"
    gtids = str(row[4]).replace("\n", "") if database.family == "mysql" else ""
    return str(row[0]), int(row[1]), gtids


def _binlog_bytes(database: SqlServer) -> int:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW BINARY LOGS")
        return sum(int(row[1]) for row in cursor.fetchall())

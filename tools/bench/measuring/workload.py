"""Common parts of all workloads: their schema, their finish line, and the facts of the written
binlog.
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
    """A filled binlog.

    changes       number of row changes before the finish line
    binlog_bytes  size of the binlog from the coordinates on
    file, offset  coordinates at which the tables were created and empty
    gtids         GTID set of MySQL at these coordinates; empty for MariaDB
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
        """Create the tables without rows."""

    def write(self, database: SqlServer, /) -> int:
        """Write the rows; return the number of row changes."""


def fill(database: SqlServer, workload: Workload) -> Written:
    """Write a start row, the workload, and nine rows of a separate table as the finish line.

    The start row makes the relay create the topic of the finish line before the measurement. The
    benchmark sees only the end offset of that topic, which must reach FINISH_ROWS at the finish
    line and not before. The start row and the marker of its Kafka transaction are far below that;
    nine more rows, each in its own event, reach it.
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
    """Return the end of the binlog: file, offset, and GTID set of MySQL."""
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

"""Writes one part of the binlog for every measurement, fast: rows are copied inside the server from
a table that is not logged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pymysql.cursors import Cursor

from deploy.embedded import SqlServer
from tools.bench.measuring.workload import FINISH_ROWS, FINISH_TABLE, SCHEMA, place
from tools.bench.scaling.points import TEMPLATE_ROWS, Shape

OPTIONS: Final[dict[str, str | int | None]] = {
    "innodb_buffer_pool_size": 512 * 1024 * 1024,
    "innodb_flush_log_at_trx_commit": 0,
    "innodb_file_per_table": "OFF",  # creating ten thousand files takes long
    "table_open_cache": 12_000,
    "table_definition_cache": 12_000,
}
_TEMPLATE: Final = "template"
_COLUMNS: Final = 240
_STATEMENT_ROWS: Final = 250
_KINDS: Final = (
    ("INT", "{i}"),
    ("VARCHAR(100)", "'a label of some thirty {i:07d}'"),
    ("DECIMAL(12,2)", "{i}.25"),
    ("DATETIME(3)", "'2026-07-10 10:20:{second:02d}.123'"),
    ("DOUBLE", "{i}.5"),
    ("BIGINT UNSIGNED", "{i}000007"),
)
_UNLOGGED: Final = "SET SESSION sql_log_bin = 0"


@dataclass(frozen=True, slots=True)
class Part:
    """The newest part of the binlog: it begins with `file`, ends at the end of the binlog, and has
    `size_bytes` bytes.
    """

    file: str
    size_bytes: int


class Binlog:
    """The binlog of one server.

    Tables are created when they are first used. Neither their creation nor the template
    table, from which rows are copied, is logged.
    """

    def __init__(self, database: SqlServer) -> None:
        self._database = database
        self._tables: dict[int, int] = {}
        self._finishes = 0
        self._next_id = 1
        self._unlogged(
            f"CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4",
            f"USE {SCHEMA}",
            _create(_TEMPLATE, _COLUMNS),
            *_fill_template(),
        )

    def write(self, shape: Shape) -> Part:
        """Begin a file and write the rows of a shape between the start and the finish row of every
        instance; earlier files may be purged.
        """
        self._make(shape)
        self._database.execute("FLUSH BINARY LOGS")
        file, _, _ = place(self._database)
        self._database.execute(f"PURGE BINARY LOGS TO '{file}'")
        self._finish_rows(shape.instances, 1)
        self._copy(shape)
        self._finish_rows(shape.instances, FINISH_ROWS - 1)
        return Part(file, self._bytes_since(file))

    def _make(self, shape: Shape) -> None:
        made = self._tables.get(shape.columns, 0)
        tables = [
            _create(_table(shape.columns, number), shape.columns)
            for number in range(made, shape.tables)
        ]
        self._tables[shape.columns] = max(made, shape.tables)
        schemas = [finish_schema(number) for number in range(self._finishes, shape.instances)]
        self._finishes = max(self._finishes, shape.instances)
        ends = [
            f"CREATE TABLE {schema}.{FINISH_TABLE} (id INT PRIMARY KEY AUTO_INCREMENT)"
            for schema in schemas
        ]
        procedures = ("DROP PROCEDURE IF EXISTS copy_rows", _procedure(shape))
        self._unlogged(
            *(f"CREATE DATABASE {schema}" for schema in schemas),
            *ends,
            f"USE {SCHEMA}",
            *tables,
            *procedures,
        )

    def _finish_rows(self, instances: int, count: int) -> None:
        """One transaction in which each row has its own statement."""
        tables = [f"{finish_schema(number)}.{FINISH_TABLE}" for number in range(instances)]
        self._database.execute(
            "BEGIN",
            *(f"INSERT INTO {table} VALUES ()" for table in tables for _ in range(count)),
            "COMMIT",
        )

    def _copy(self, shape: Shape) -> None:
        self._database.execute(
            f"USE {SCHEMA}", f"CALL copy_rows({self._next_id}, {shape.transactions})"
        )
        self._next_id += shape.written

    def _bytes_since(self, file: str) -> int:
        with self._database.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW BINARY LOGS")
            return sum(int(row[1]) for row in cursor.fetchall() if str(row[0]) >= file)

    def _unlogged(self, *statements: str) -> None:
        with self._database.connect() as connection, connection.cursor() as cursor:
            _run(cursor, _UNLOGGED, *statements)


def finish_schema(instance: int) -> str:
    """Return the schema of the finish line of an instance. Each instance has its own."""
    return f"bench_end_{instance}"


def _run(cursor: "Cursor | Any", *statements: str) -> None:
    for statement in statements:
        cursor.execute(statement)


def _table(columns: int, number: int | str) -> str:
    return f"rows_{columns}_{number}"


def _names(columns: int) -> list[str]:
    return [f"column_{number}" for number in range(1, columns)]


def _create(table: str, columns: int) -> str:
    kinds = (_KINDS[number % len(_KINDS)][0] for number in range(columns - 1))
    rest = ", ".join(f"{name} {kind}" for name, kind in zip(_names(columns), kinds, strict=True))
    return f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, {rest})"


def _fill_template() -> Iterator[str]:
    for first in range(0, TEMPLATE_ROWS, _STATEMENT_ROWS):
        yield (
            f"INSERT INTO {_TEMPLATE} VALUES "
            f"{','.join(map(_row, range(first, first + _STATEMENT_ROWS)))}"
        )


def _row(i: int) -> str:
    """Return the values of a row as SQL. They have no quotes and backslashes, so nothing is
    escaped.
    """
    values = [pattern.format(i=i, second=i % 60) for _, pattern in _KINDS]
    return f"({i},{','.join(values[number % len(values)] for number in range(_COLUMNS - 1))})"


def _procedure(shape: Shape) -> str:
    """Copy slice after slice of the template into table after table.

    With one table the statement is prepared once.
    """
    names = ", ".join(_names(shape.columns))
    table = _table(shape.columns, "', i % " + str(shape.tables) + ", '")
    insert = (
        f"CONCAT('INSERT INTO {table} (id, {names}) SELECT id + ?, {names} FROM {_TEMPLATE} WHERE "
        f"id BETWEEN ? AND ?')"
    )
    return f"""CREATE PROCEDURE copy_rows(first BIGINT, n INT) BEGIN
        DECLARE i BIGINT DEFAULT 0;
        WHILE i < n DO
            IF i = 0 OR {shape.tables} > 1 THEN
                SET @insert = {insert};
                PREPARE copy_slice FROM @insert;
            END IF;
            SET @low = i * {shape.transaction_rows} % {TEMPLATE_ROWS},
                @high = @low + {shape.transaction_rows - 1};
            SET @shift = first + i * {shape.transaction_rows} - @low;
            EXECUTE copy_slice USING @shift, @low, @high;
            SET i = i + 1;
        END WHILE;
    END"""

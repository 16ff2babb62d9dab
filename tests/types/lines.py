"""The lines of docs/types.md on a real server: the columns made, the values inserted, the texts
read back.
"""

from collections.abc import Iterator
from typing import Final

from deploy.embedded import SqlServer
from tests.support.rows.types_page import TypeLine
from tests.support.sources.source_reading import end_of
from tests.types.server_texts import server_rows
from tests.types.walked import PrintedRow, Texts, printed_rows

_TOGETHER: Final = 16
"""Columns of one table; a table of all of them would be wider than servers allow."""


def inserted(
    server: SqlServer, database: str, lines: list[TypeLine]
) -> Iterator[tuple[TypeLine, str, PrintedRow, str]]:
    """Yield each line with the server's own text, the row that the relay printed, and the name of
    its column there.
    """
    start = end_of(server)
    tables = {
        f"t{first}": lines[first : first + _TOGETHER] for first in range(0, len(lines), _TOGETHER)
    }
    truths: dict[str, Texts] = {}
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = '', time_zone = '+00:00'")
        cursor.execute(f"CREATE DATABASE {database} CHARACTER SET utf8mb4")
        for table, some in tables.items():
            columns = ", ".join(
                f"c{number} {line.declared} NULL" for number, line in enumerate(some)
            )
            cursor.execute(f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY, {columns})")
            cursor.execute(
                f"INSERT INTO {database}.{table} VALUES (1, "
                f"{', '.join(line.stored for line in some)})"
            )
            (truths[table],) = server_rows(connection, database, table)
    rows = {
        row.table.table: row
        for row in printed_rows(server, start, end_of(server))
        if row.table.database == database
    }
    for table, some in tables.items():
        for number, line in enumerate(some):
            yield line, truths[table][f"c{number}"] or "", rows[table], f"c{number}"

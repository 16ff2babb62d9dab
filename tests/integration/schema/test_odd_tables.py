"""Tables of unusual shape on every server: decoded, printed in every way, equal to SELECT."""

from collections.abc import Callable

from deploy.embedded import SqlServer
from tests.support.sources.source_reading import end_of
from tests.types.odd_tables import ODD_TABLES
from tests.types.server_texts import server_rows
from tests.types.walked import printed_rows


def test_each_of_them_reads_as_the_server_prints_it(
    database: SqlServer, fresh_name: Callable[[str], str]
) -> None:
    start, held = end_of(database), {}
    names = {
        name: fresh_name("odd")
        for name, odd in ODD_TABLES.items()
        if database.family in odd.families
    }
    for name, schema in names.items():
        odd = ODD_TABLES[name]
        with database.connect() as connection, connection.cursor() as cursor:
            for sql in (
                f"CREATE DATABASE {schema} CHARACTER SET utf8mb4",
                f"USE {schema}",
                *odd.statements,
            ):
                cursor.execute(sql)
            (held[name],) = server_rows(connection, schema, odd.table)
    rows = {
        (row.table.database, row.table.table): row
        for row in printed_rows(database, start, end_of(database))
    }
    try:
        for name, schema in names.items():
            printed = rows[schema, ODD_TABLES[name].table]
            # System-versioned tables log two columns more than the catalogue names.
            assert held[name].items() <= printed.exact.items(), name
            assert (printed.key is None) == (
                name in ("a table without a key", "DROP PRIMARY KEY")
            ), name
    finally:
        for schema in names.values():
            database.execute(f"DROP DATABASE {schema}")
    assert len(names) >= 14

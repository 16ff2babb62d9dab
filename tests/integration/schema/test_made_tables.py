"""Tables that nobody thought of: what the relay publishes of them adds up to what the server's
SELECT says.

A few each time; `make tables` makes hundreds (EXAMPLES in the environment).
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pymysql.connections import Connection

from deploy.embedded import SqlServer
from relay.model.change import Operation
from tests.support.sources.source_reading import end_of
from tests.types.made_tables import Change, MadeTable, made_tables
from tests.types.server_texts import server_rows
from tests.types.walked import PrintedRow, Texts, printed_rows

_EXAMPLES: Final = int(os.environ.get("EXAMPLES", "6"))
_TABLE: Final = "made"


def test_what_is_published_adds_up_to_the_table(
    database: SqlServer, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("made")
    database.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,
        phases=[Phase.generate] if "EXAMPLES" not in os.environ else tuple(Phase),
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(data=st.data())
    def adds_up(data: st.DataObject) -> None:
        made = data.draw(made_tables(database.family))
        start = end_of(database)
        with database.connect() as connection:
            _carry_out(connection, name, made, database.family)
            held = server_rows(connection, name, _TABLE)
        rows = printed_rows(database, start, end_of(database), row_image="partial")
        assert sorted(
            map(
                _as_text,
                _folded((row for row in rows if row.table.database == name), keyed=made.keyed),
            )
        ) == sorted(map(_as_text, held))

    try:
        adds_up()
    finally:
        database.execute(f"DROP DATABASE {name}")


def _carry_out(connection: "Connection[Any]", name: str, made: MadeTable, family: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SET sql_mode = '', time_zone = '+00:00', binlog_row_image = '{made.image}'"
        )
        if family == "mysql":
            cursor.execute(f"SET binlog_transaction_compression = {int(made.compressed)}")
        cursor.execute(f"DROP TABLE IF EXISTS {name}.{_TABLE}")
        columns = ", ".join(
            f"c{number} {column.declared}" for number, column in enumerate(made.columns)
        )
        cursor.execute(
            f"CREATE TABLE {name}.{_TABLE} (id INT{' PRIMARY KEY' if made.keyed else ''}, "
            f"{columns}) ROW_FORMAT=DYNAMIC"
        )
        for change in made.changes:
            sql, values = _statement(change, f"{name}.{_TABLE}", made)
            cursor.execute(sql, values)


def _statement(change: Change, table: str, made: MadeTable) -> tuple[str, list[Any]]:
    if change.inserted:
        row = f"({', '.join(['%s', *(column.sql for column in made.columns)])})"
        values = [value for number, each in enumerate(change.inserted) for value in (number, *each)]
        return f"INSERT INTO {table} VALUES {', '.join([row] * len(change.inserted))}", values
    if change.assigned is None:
        return f"DELETE FROM {table} WHERE id = %s", [change.number]
    columns = ", ".join(f"c{number} = {made.columns[number].sql}" for number in change.assigned)
    return f"UPDATE {table} SET {columns} WHERE id = %s", [*change.assigned.values(), change.number]


def _folded(rows: Iterable[PrintedRow], *, keyed: bool) -> list[Texts]:
    """The table that a consumer of the messages has."""
    held: list[Texts] = []
    for row in rows:
        if row.operation is not Operation.INSERT:
            former = {**row.exact, **row.old}
            known = {"id": former["id"]} if keyed else former
            found = next(each for each in held if known.items() <= each.items())
            assert {
                name: text
                for name, text in former.items()
                if name in row.old or row.operation is Operation.DELETE
            }.items() <= found.items()
            held.remove(found)
            if row.operation is Operation.UPDATE:
                held.append({**found, **row.exact})
        else:
            held.append(row.exact)
        assert row.key == ([f"{row.table}", row.exact["id"]] if keyed else None) or not keyed
    return held


def _as_text(row: Texts) -> str:
    return repr(sorted(row.items()))

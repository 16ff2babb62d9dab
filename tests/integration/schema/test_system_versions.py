"""MariaDB's system-versioned tables: what is published of current rows adds up to SELECT, and
history rows are told from them.
"""

from collections.abc import Callable, Iterator

import orjson
import pytest

from deploy.embedded import SqlServer
from relay.encode.row_history import ENDLESS
from relay.model.change import RawRows, Statement
from relay.model.message import OutboundMessage
from tests.support.sources.source_reading import end_of, read, source_settings
from tests.support.sources.system_versions import TABLES, Reader, held, run
from tests.types.walked import Texts


@pytest.fixture(params=["mariadb", "mariadb_10_11"])
def server(request: pytest.FixtureRequest) -> SqlServer:
    found: SqlServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def schema(server: SqlServer, fresh_name: Callable[[str], str]) -> Iterator[str]:
    name = fresh_name("versions")
    server.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    yield name
    server.execute(f"DROP DATABASE {name}")


def fold(messages: list[OutboundMessage], *, history: bool) -> dict[str, Texts]:
    """What a consumer holds by key, of history rows or of the others; parts of rows are merged."""
    rows: dict[str, Texts] = {}
    for message in messages:
        if ("history" in dict(message.headers)) == history:
            value = orjson.loads(message.value or b"")
            key = (message.key or b"").decode()
            for row in value["data"]:
                assert message.key is None or orjson.loads(message.key)[1:] == [
                    row[name] for name in value["pkNames"]
                ]
                if value["type"] == "DELETE":
                    assert rows.pop(key, None) is not None or history, (
                        f"a delete of {key}, which is not there"
                    )
                else:
                    rows[key] = {**rows.get(key, {}), **row}
    return rows


def sorted_rows(rows: list[Texts]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("table", TABLES)
def test_current_rows_and_history_add_up_to_what_the_server_holds(
    server: SqlServer, schema: str, table: str
) -> None:
    start = end_of(server)
    run(server, schema, table)
    messages = list(Reader(server, schema).messages(start))
    current, past = fold(messages, history=False), fold(messages, history=True)
    columns = list(next(iter(current.values())))
    assert sorted_rows([*current.values()]) == sorted_rows(held(server, schema, table, columns))
    assert bool(past) == (table != "ordinary")
    if past:
        end = "e" if "ROW END" in TABLES[table] else "row_end"
        names = [
            name for name in columns if name != "later"
        ]  # DDL gave it to history rows, too, and logs no rows
        every = held(server, schema, table, names, "FOR SYSTEM_TIME ALL")
        ended = [row for row in every if row[end] not in ENDLESS]
        assert sorted_rows(
            [{name: row[name] for name in names} for row in past.values()]
        ) == sorted_rows(ended)


def test_transaction_precise_history_has_no_row_events(server: SqlServer, schema: str) -> None:
    start = end_of(server)
    times = (
        "s BIGINT UNSIGNED GENERATED ALWAYS AS ROW START, e BIGINT UNSIGNED GENERATED ALWAYS AS "
        "ROW END, PERIOD FOR SYSTEM_TIME (s, e)"
    )
    server.execute(
        f"CREATE TABLE {schema}.t (id INT PRIMARY KEY, n INT, {times}) WITH SYSTEM VERSIONING",
        f"INSERT INTO {schema}.t (id, n) VALUES (1, 1)",
        f"UPDATE {schema}.t SET n = 2",
        f"DELETE FROM {schema}.t",
    )
    items = list(read(source_settings(server), start, end_of(server)))
    assert not any(isinstance(item, RawRows) for item in items)
    assert [item.sql.split()[0] for item in items if isinstance(item, Statement)] == [
        "CREATE",
        "INSERT",
        "UPDATE",
        "DELETE",
    ]

"""Chunks with a condition on real servers: no row is lost or read twice between their bounds."""

import pytest

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.model.source_rows.key_range import Boundary
from relay.model.table import TableId
from relay.pipeline.copying import chunk_select
from relay.pipeline.copying.chunk_select import end_of, is_last, read_chunk
from relay.pipeline.copying.key_types import column_facts, with_key_types
from relay.pipeline.copying.known_tables import tables_of_source
from relay.schema import CatalogReader, CopiedTable, copied_table
from relay.settings import CopyingSettings
from relay.source import ChunkConnection, Low, ReadChunk
from relay.state import SnapshotRequest
from tests.servers.fixtures import FreshName
from tests.support.sources.source_reading import end_of as binlog_end
from tests.support.sources.source_reading import source_settings

_SHOWS_KEYS = "show_gipk_in_create_table_and_information_schema"
TABLE = TableId("bounded_chunks", "t")


@pytest.mark.parametrize("server", ["mysql_9", "mariadb"])
def test_a_condition_is_asked_range_by_range_and_finds_each_row_once(
    server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_select, "SEARCHED_PER_ROW", 3)
    database: SqlServer = request.getfixturevalue(server)
    database.execute(
        f"create database {TABLE.database}",
        f"create table {TABLE.database}.t (a varchar(9) character set latin1 collate "
        "latin1_swedish_ci, b binary(2), d datetime(3), n int, primary key (a, b, d))",
        *(
            f"insert into {TABLE.database}.t values "
            f"('{'äAbz'[i % 4]}{i // 16}', x'{i:04x}', '2026-01-01 00:00:{i % 60:02}.5', {i})"
            for i in range(70)
        ),
    )
    connection = ChunkConnection(source_settings(database))
    table = _described(database, TABLE, connection)
    assert table.key_types == ("varchar(9) latin1_swedish_ci", "binary(2)", "datetime(3)")
    wanted = SnapshotRequest("1", "x", where="n % 23 = 0 or n > 64")
    chunks = _chunks(database, table, wanted, 2, connection)
    connection.close()
    found = [int(row[3] or b"") for chunk in chunks for row in chunk.rows]
    assert sorted(found) == [0, 23, 46, 65, 66, 67, 68, 69]
    assert len(chunks) >= 11


@pytest.mark.parametrize("server", ["mysql_9", "mariadb"])
@pytest.mark.parametrize(
    "codes",
    [
        pytest.param({"cp932_bin": "8740 ED40 ED41 EDFC FA5C FA5D"}, id="two-codes-upwards"),
        pytest.param({"cp932_japanese_ci": "81E0 8790 ED40"}, id="two-codes-downwards"),
        pytest.param({"sjis_japanese_ci": "41 5C 815F"}, id="two-codes-of-a-backslash"),
        pytest.param({"greek_general_ci": "3F 41 D2 FF"}, id="no-character"),
        pytest.param({"ucs2_bin": "0041 D800 FF21"}, id="half-a-character"),
    ],
)
def test_chunks_go_on_after_codes_that_utf8_does_not_give_back(
    server: str, codes: dict[str, str], request: pytest.FixtureRequest, fresh_name: FreshName
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    [(collation, text)] = codes.items()
    charset, wanted = collation.partition("_")[0], text.split()
    table = TableId(fresh_name("codes"), "t")
    database.execute(
        f"create database {table.database}",
        f"create table {table} (k varchar(9) character set {charset} collate {collation} "
        "primary key, n int)",
        *(f"insert into {table} values (cast(x'{each}' as binary), 1)" for each in wanted),
    )
    connection = ChunkConnection(source_settings(database))
    described = _described(database, table, connection)
    chunks = _chunks(database, described, SnapshotRequest("1", "x"), 1, connection)
    connection.close()
    found = [(row[0] or b"").hex().upper() for chunk in chunks for row in chunk.rows]
    assert sorted(found) == wanted


@pytest.mark.parametrize("server", ["mysql_9", "mariadb"])
def test_chunks_go_on_after_dates_that_no_calendar_has(
    server: str, request: pytest.FixtureRequest, fresh_name: FreshName
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    table = TableId(fresh_name("dates"), "t")
    wanted = ["0000-00-00", "2024-00-00", "2024-02-30", "2024-02-31", "2024-03-01"]
    database.execute(
        f"create database {table.database}",
        f"create table {table} (d date primary key)",
        "set session sql_mode = 'ALLOW_INVALID_DATES'",
        *(f"insert into {table} values ('{each}')" for each in wanted),
    )
    connection = ChunkConnection(source_settings(database))
    described = _described(database, table, connection)
    chunks = _chunks(database, described, SnapshotRequest("1", "x"), 1, connection)
    connection.close()
    assert [(row[0] or b"").decode() for chunk in chunks for row in chunk.rows] == wanted


def test_keys_that_differ_behind_the_usual_length_of_a_sort_are_read_in_order(
    mariadb: MariaDB, fresh_name: FreshName
) -> None:
    table = TableId(fresh_name("sorted"), "t")
    ends = [f"{7 * i % 30:02}" for i in range(30)]
    mariadb.execute(
        f"create database {table.database} character set utf8mb4 collate utf8mb4_bin",
        f"create table {table} (k varchar(2000) not null unique)",
        *(f"insert into {table} values (concat(repeat('a', 1300), '{end}'))" for end in ends),
    )
    connection = ChunkConnection(source_settings(mariadb))
    described = _described(mariadb, table, connection)
    chunks = _chunks(mariadb, described, SnapshotRequest("1", "x"), 4, connection)
    connection.close()
    found = [(row[0] or b"")[-2:].decode() for chunk in chunks for row in chunk.rows]
    assert found == sorted(ends)


@pytest.mark.parametrize("server", ["mysql_9", "mariadb"])
def test_a_limit_of_the_server_for_all_selects_hides_no_table_and_no_column(
    server: str, request: pytest.FixtureRequest, fresh_name: FreshName
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    schema = fresh_name("limited")
    wanted = [TableId(schema, "t1"), TableId(schema, "t2")]
    database.execute(
        f"create database {schema}",
        *(f"create table {each} (id int primary key, n int)" for each in wanted),
        "set global sql_select_limit = 1",
    )
    connection = ChunkConnection(source_settings(database))
    try:
        known = [each.id for each in tables_of_source(connection)]
        described = CatalogReader(source_settings(database)).snapshot(wanted).tables
    finally:
        connection.close()
        database.execute("set global sql_select_limit = default")
    assert [each for each in known if each.database == schema] == wanted
    assert [len(described[each].columns) for each in wanted] == [2, 2]


def test_a_generated_key_that_the_server_hides_is_the_key_of_the_copy(
    mysql_9: MySQL, fresh_name: FreshName
) -> None:
    table = TableId(fresh_name("hidden"), "t")
    mysql_9.execute(
        f"create database {table.database}",
        "set session sql_generate_invisible_primary_key = ON",
        f"create table {table} (a int)",
        f"alter table {table} add column b int not null, add unique (b)",
        f"set global {_SHOWS_KEYS} = OFF",
    )
    connection = ChunkConnection(source_settings(mysql_9))
    try:
        described = _described(mysql_9, table, connection)
        found = CatalogReader(source_settings(mysql_9)).read(table, keys=True)
    finally:
        connection.close()
        mysql_9.execute(f"set global {_SHOWS_KEYS} = ON")
    assert described.key_names == ("my_row_id",)
    assert [column.name for column in described.map.columns] == ["my_row_id", "a", "b"]
    assert found is not None
    assert found.primary_key == ("my_row_id",)


def _described(database: SqlServer, table: TableId, connection: ChunkConnection) -> CopiedTable:
    described = CatalogReader(source_settings(database)).snapshot((table,)).tables[table]
    mariadb = connection.server().mariadb
    found = with_key_types(
        copied_table(table, described, mariadb=mariadb), column_facts(table, connection)
    )
    assert found is not None
    return found


def _chunks(
    database: SqlServer,
    table: CopiedTable,
    wanted: SnapshotRequest,
    rows: int,
    connection: ChunkConnection,
) -> list[ReadChunk]:
    """Read a table to its end, in at most 70 chunks."""
    facts = connection.server()
    low = Low(facts.server_uuid or str(facts.server_id), "", None, binlog_end(database))
    after: Boundary = ()
    found: list[ReadChunk] = []
    while len(found) < 70 and not (found and is_last(found[-1], rows)):
        chunk = read_chunk(table, wanted, after, rows, low, CopyingSettings())(connection)
        assert isinstance(chunk, ReadChunk)
        after = end_of(table, chunk, rows)
        found.append(chunk)
    return found

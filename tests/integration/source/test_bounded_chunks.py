"""Chunks with a condition on real servers: no row is lost or read twice between their bounds."""

import pytest

from deploy.embedded import SqlServer
from relay.model.source_rows.key_range import Boundary
from relay.model.table import TableId
from relay.pipeline.copying import chunk_select
from relay.pipeline.copying.chunk_select import end_of, is_last, read_chunk
from relay.pipeline.copying.key_types import column_facts, with_key_types
from relay.schema import CatalogReader, copied_table
from relay.settings import CopyingSettings
from relay.source import ChunkConnection, Low, ReadChunk
from relay.state import SnapshotRequest
from tests.support.sources.source_reading import end_of as binlog_end
from tests.support.sources.source_reading import source_settings

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
    settings = source_settings(database)
    described = CatalogReader(settings).snapshot((TABLE,)).tables[TABLE]
    connection = ChunkConnection(settings)
    table = with_key_types(
        copied_table(TABLE, described, mariadb=server == "mariadb"), column_facts(TABLE, connection)
    )
    assert table is not None
    assert table.key_types == ("varchar(9) latin1_swedish_ci", "binary(2)", "datetime(3)")
    wanted = SnapshotRequest("1", "x", where="n % 23 = 0 or n > 64")
    facts = connection.server()
    low = Low(facts.server_uuid or str(facts.server_id), "", None, binlog_end(database))
    after: Boundary = ()
    found, chunks, ended = [], 0, False
    while not ended and chunks < 70:
        chunk = read_chunk(table, wanted, after, 2, low, CopyingSettings())(connection)
        assert isinstance(chunk, ReadChunk)
        found += [int(row[3] or b"") for row in chunk.rows]
        after, ended, chunks = end_of(table, chunk, 2), is_last(chunk, 2), chunks + 1
    connection.close()
    assert sorted(found) == [0, 23, 46, 65, 66, 67, 68, 69]
    assert chunks >= 11

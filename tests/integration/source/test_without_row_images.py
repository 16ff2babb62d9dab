"""Servers from before binlog_row_image: they log every image whole, so preflight passes and their
rows are read.
"""

from collections.abc import Iterator

import pytest

from deploy.embedded import SqlServer
from deploy.embedded.releases import MariaDB101, MySQL55
from relay.errors import SourceNotPermitted, SourceSettingsRefused
from relay.model.change import RawRows
from relay.settings import StartSettings
from relay.source import check_source, open_source
from tests.servers.running import factory
from tests.support.sources.source_reading import end_of, items_up_to, source_settings


@pytest.fixture(scope="module", params=[MySQL55, MariaDB101], ids=lambda kind: kind.name)
def old(request: pytest.FixtureRequest) -> Iterator[SqlServer]:
    with factory(request.param) as start:
        yield start({"binlog_row_image": None})


def test_a_server_without_the_variable_is_read(old: SqlServer) -> None:
    old.execute(
        "DROP DATABASE IF EXISTS d",
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(9), w INT)",
    )
    settings = source_settings(old)
    assert [check.error for check in check_source(settings) if check.error is not None] == []
    stream = open_source(settings, None, StartSettings(at="end"))
    old.execute("INSERT INTO d.t VALUES (1, 'a', 2)", "UPDATE d.t SET w = 3", "DELETE FROM d.t")
    rows = [item for item in items_up_to(stream, end_of(old)) if isinstance(item, RawRows)]
    assert len(rows) == 3
    assert all(row.body[8] == 3 and row.body[9] & 0b111 == 0b111 for row in rows), (
        "three columns, all of them logged"
    )


def test_names_from_a_table_map_that_has_none_say_what_to_set(old: SqlServer) -> None:
    with pytest.raises(SourceSettingsRefused, match="binlog_row_metadata is missing") as refused:
        open_source(source_settings(old, names="table_map"), None, StartSettings(at="end"))
    assert "source.names" in refused.value.way_out


def test_a_server_that_lists_binlog_files_to_super_alone_says_so(old: SqlServer) -> None:
    if old.family == "mariadb":
        pytest.skip("MariaDB lists them with REPLICATION CLIENT")
    old.execute(
        "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO 'plain'@'%' IDENTIFIED BY "
        "'x'"
    )
    settings = source_settings(old, user="plain", password="x")
    (error, *_) = (check.error for check in check_source(settings) if check.error is not None)
    assert isinstance(error, SourceNotPermitted)
    assert "SUPER" in error.way_out
    with pytest.raises(SourceNotPermitted, match="SUPER"):
        open_source(settings, None, StartSettings(at="end"))

"""mysql-replication and the relay read the same stretch of real servers' binlogs."""

from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import MySQL, SqlServer, ZooKeeper
from relay.cli import app
from relay.model.positions.position import BinlogPosition
from relay.model.table import TableId
from relay.second_reader import Report, Stretch, pairs, verify
from tests.support.rows.types_page import type_lines
from tests.support.sources.source_reading import end_of, source_settings
from tests.types.lines import inserted


def report_of(server: SqlServer, start: BinlogPosition) -> Report:
    return verify(pairs(Stretch(source_settings(server), "test", start, end_of(server))))


def test_both_read_every_type_alike_but_for_what_is_named(
    database: SqlServer, fresh_name: Callable[[str], str]
) -> None:
    name, start = fresh_name("second"), end_of(database)
    try:
        lines = len(list(inserted(database, name, type_lines(database.family))))
        report = report_of(database, start)
    finally:
        database.execute(f"DROP DATABASE IF EXISTS {name}")
    assert report.differences == []
    assert sum(report.own_rows.values()) * 16 >= lines
    assert report.library_rows.keys() <= report.own_rows.keys()
    assert report.values > 50
    assert any("zero dates" in why for why in report.left_out)


def test_updates_deletes_and_what_is_rolled_back(
    database: SqlServer, fresh_name: Callable[[str], str]
) -> None:
    name, start = fresh_name("second"), end_of(database)
    table = TableId(name, "t")
    with database.connect() as connection, connection.cursor() as cursor:
        for sql in (
            f"CREATE DATABASE {name} CHARACTER SET utf8mb4",
            f"USE {name}",
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), at DATETIME(3))",
            "CREATE TABLE nontransactional (id INT) ENGINE=MyISAM",
            "BEGIN",
            *(
                f"INSERT INTO t VALUES ({number}, 'n{number}', '2024-01-02 03:04:05.678')"
                for number in range(5)
            ),
            "SAVEPOINT a",
            "INSERT INTO t VALUES (99, 'never', NULL)",
            *(
                ["INSERT INTO nontransactional VALUES (1)"] if database.family == "mariadb" else []
            ),  # it keeps what is rolled back
            "ROLLBACK TO a",
            "UPDATE t SET name = 'é' WHERE id < 3",
            "DELETE FROM t WHERE id = 4",
            "COMMIT",
        ):
            cursor.execute(sql)
    try:
        report = report_of(database, start)
    finally:
        database.execute(f"DROP DATABASE {name}")
    assert report.differences == []
    assert report.own_rows[table] >= 9
    assert report.library_rows == report.own_rows


def test_rows_of_compressed_transactions_are_named(
    mysql_9: MySQL, fresh_name: Callable[[str], str]
) -> None:
    name, start = fresh_name("second"), end_of(mysql_9)
    with mysql_9.connect() as connection, connection.cursor() as cursor:
        for sql in (
            f"CREATE DATABASE {name}",
            f"CREATE TABLE {name}.t (id INT PRIMARY KEY, t TEXT)",
            "SET SESSION binlog_transaction_compression = ON",
            f"INSERT INTO {name}.t VALUES (1, REPEAT('a', 1000)), (2, 'b')",
            "SET SESSION binlog_transaction_compression = OFF",
            f"INSERT INTO {name}.t VALUES (3, 'c')",
        ):
            cursor.execute(sql)
    report = report_of(mysql_9, start)
    mysql_9.execute(f"DROP DATABASE {name}")
    assert report.differences == []
    assert (report.own_rows[TableId(name, "t")], report.library_rows[TableId(name, "t")]) == (3, 1)
    assert report.left_out == {
        "rows of a compressed transaction (TRANSACTION_PAYLOAD): the library skips it": 2
    }


@pytest.fixture
def config(
    database: SqlServer, zookeeper: ZooKeeper, fresh_name: Callable[[str], str], tmp_path: Path
) -> Path:
    source = {
        "host": database.host,
        "port": database.port,
        "user": database.relay,
        "password": database.relay,
    }
    document = {
        "installation": fresh_name("second"),
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
        "zookeeper": {"hosts": zookeeper.hosts},
        "instances": [
            {
                "name": "shop",
                "source": source,
                "routing": {"unmapped_db": "default_topic", "default_topic": "all"},
            }
        ],
    }
    path = tmp_path / "relay.toml"
    path.write_text(tomli_w.dumps(document), encoding="utf-8")
    return path


def test_the_commands_show_and_verify(
    database: SqlServer, config: Path, fresh_name: Callable[[str], str]
) -> None:
    name, start = fresh_name("second"), end_of(database)
    database.execute(
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.t (id INT PRIMARY KEY)",
        f"INSERT INTO {name}.t VALUES (1), (2)",
    )
    place = ["--config", str(config), "--file", start.file, "--offset", str(start.offset)]
    try:
        shown = CliRunner().invoke(app, ["binlog", "show", "shop", *place])
        verified = CliRunner().invoke(app, ["binlog", "verify", "shop", *place])
        without_offset = CliRunner().invoke(
            app, ["binlog", "verify", "shop", *place, "--until-file", start.file]
        )
        beside = CliRunner().invoke(
            app, ["binlog", "verify", "shop", *place[:-1], str(start.offset + 1)]
        )
    finally:
        database.execute(f"DROP DATABASE {name}")
    assert shown.exit_code == 0, shown.output
    assert without_offset.exit_code == 2
    assert "--until-offset" in without_offset.output
    assert "library  === WriteRowsEvent ===" in shown.output
    assert (
        f"relay    INSERT, 2 rows; {name}.t is published as {name}.t to topic all" in shown.output
    )
    assert 'relay    {"data":[{"id":"2"}]' in shown.output
    assert "relay    statement of kind CREATE" in shown.output
    assert verified.exit_code == 0, verified.output
    assert f"{name}.t: 2 rows read by the relay, 2 by the library" in verified.output
    assert beside.exit_code != 0

"""MySQL 5.6 as a source, with and without GTIDs: no GTID event to begin a transaction, row events
of both versions, long packets.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from pymysql.connections import Connection

from deploy.embedded import MySQL56
from relay.errors import ConfigurationError
from relay.model.change import Advance, RawRows, Statement, TransactionBegin, TransactionEnd
from relay.model.event_types import WRITE_ROWS, WRITE_ROWS_V1
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.settings import StartSettings
from relay.source import open_source, transaction_position
from tests.servers.fixtures import FreshName
from tests.servers.running import factory
from tests.support.sources.source_reading import (
    ask,
    end_of,
    items_up_to,
    read,
    source_settings,
    statements_of,
    whole_transactions,
)

_SEVENTEEN_MEGABYTES: Final = 17 * 1024 * 1024


@pytest.fixture(scope="module", params=[False, True], ids=["without GTIDs", "with GTIDs"])
def old(request: pytest.FixtureRequest) -> Iterator[MySQL56]:
    if not request.param:
        yield request.getfixturevalue("mysql_5_6")
        return
    with factory(MySQL56) as start:
        yield start(MySQL56.gtid_options)


@pytest.fixture
def schema(old: MySQL56, fresh_name: FreshName) -> Iterator[str]:
    name = fresh_name("old")
    old.execute(
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.a (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)",
        f"CREATE TABLE {name}.m (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT) ENGINE=MyISAM",
    )
    yield name
    old.execute(f"DROP DATABASE {name}")


def _workload(connection: "Connection[Any]", schema: str) -> None:
    with connection.cursor() as cursor:
        for sql in (
            *(
                f"USE {schema}",
                "INSERT INTO a(v) VALUES ('1'), ('2')",
                "BEGIN",
                "INSERT INTO a(v) VALUES ('3')",
                "SAVEPOINT s",
            ),
            *(
                "INSERT INTO a(v) VALUES ('4')",
                "UPDATE a SET v = 'x'",
                "COMMIT",
                "CREATE TABLE b LIKE a",
                "INSERT INTO m(v) VALUES ('m')",
            ),
            *(
                "FLUSH BINARY LOGS",
                "ALTER TABLE b ADD n INT",
                "DELETE FROM a WHERE id = 1",
                "TRUNCATE TABLE b",
                "DROP TABLE b",
            ),
        ):
            cursor.execute(sql)


@pytest.mark.parametrize("scanned", [False, True], ids=["one by one", "scanned"])
def test_reading_can_go_on_after_every_transaction(
    old: MySQL56, schema: str, scanned: bool
) -> None:
    settings = source_settings(old)
    stream = open_source(
        settings, None, StartSettings(), scanner=event_scanner() if scanned else None
    )
    with old.connect() as connection:
        _workload(connection, schema)
    target = end_of(old)
    transactions = whole_transactions(items_up_to(stream, target))
    assert len(transactions) == 8
    published = GtidSet.parse(stream.start.gtid_set)
    for number, transaction in enumerate(transactions):
        begin, end = transaction[0], transaction[-1]
        assert isinstance(begin, TransactionBegin)
        assert isinstance(end, TransactionEnd)
        assert transaction_position(settings, begin.position).position.binlog == begin.position
        assert bool(end.gtid) is (old.options != {})
        published = published.with_gtid(end.gtid)
        resume = SourcePosition(end.position, str(published), end.identity)
        assert whole_transactions(read(settings, resume, target)) == transactions[number + 1 :]


def test_only_the_beginning_of_a_transaction_is_a_place(old: MySQL56, schema: str) -> None:
    settings, before = source_settings(old), end_of(old)
    old.execute(f"INSERT INTO {schema}.a(v) VALUES ('1')", f"CREATE TABLE {schema}.c (id INT)")
    shown = ask(old, f"SHOW BINLOG EVENTS IN '{before.file}' FROM {before.offset}")
    (transaction,) = whole_transactions(
        read(settings, before, BinlogPosition(before.file, int(shown[-2][1])))
    )[:1]
    ddl = transaction[-1].position.offset
    for row in shown:
        place = BinlogPosition(before.file, int(row[1]))
        if place.offset in (before.offset, ddl):
            assert transaction_position(settings, place).position.binlog == place
        else:
            with pytest.raises(ConfigurationError, match="begins no transaction"):
                transaction_position(settings, place)


@pytest.mark.parametrize(("v1", "type_code"), [("OFF", WRITE_ROWS), ("ON", WRITE_ROWS_V1)])
def test_row_events_of_both_versions_are_read(
    old: MySQL56, schema: str, v1: str, type_code: int
) -> None:
    old.execute(f"SET GLOBAL log_bin_use_v1_row_events = {v1}")
    start = end_of(old)
    old.execute(f"INSERT INTO {schema}.a(v) VALUES ('1')")
    rows = [
        item for item in read(source_settings(old), start, end_of(old)) if isinstance(item, RawRows)
    ]
    old.execute("SET GLOBAL log_bin_use_v1_row_events = OFF")
    assert [row.type_code for row in rows] == [type_code]
    assert rows[0].body.endswith(b"\x01\x00\x00\x001")


def test_an_event_above_sixteen_megabytes_comes_whole(old: MySQL56, schema: str) -> None:
    start = end_of(old)
    old.execute(
        f"INSERT INTO {schema}.m(v) VALUES (REPEAT('x', {_SEVENTEEN_MEGABYTES}))",
        f"INSERT INTO {schema}.m(v) VALUES ('next')",
    )
    rows = [
        item for item in read(source_settings(old), start, end_of(old)) if isinstance(item, RawRows)
    ]
    assert rows[0].body.endswith(b"x" * _SEVENTEEN_MEGABYTES)
    assert rows[1].body.endswith(b"next")


def test_a_row_without_transactions_survives_the_rollback_around_it(
    mysql_5_6: MySQL56, fresh_name: FreshName
) -> None:
    old, schema = mysql_5_6, fresh_name("mixed")
    old.execute(
        f"CREATE DATABASE {schema}",
        f"CREATE TABLE {schema}.a (id INT PRIMARY KEY AUTO_INCREMENT, v TEXT)",
        f"CREATE TABLE {schema}.m LIKE {schema}.a",
        f"ALTER TABLE {schema}.m ENGINE=MyISAM",
    )
    start = end_of(old)
    with old.connect() as connection, connection.cursor() as cursor:
        for sql in (
            "BEGIN",
            f"INSERT INTO {schema}.a(v) VALUES ('1')",
            f"INSERT INTO {schema}.m(v) VALUES ('m')",
            "ROLLBACK",
        ):
            cursor.execute(sql)
    transactions = whole_transactions(read(source_settings(old), start, end_of(old)))
    assert [
        len([item for item in transaction if isinstance(item, RawRows)])
        for transaction in transactions
        if len(transaction) > 2
    ] == [1]


def test_heartbeats_move_an_idle_reader_on_over_a_rotation(old: MySQL56, schema: str) -> None:
    stream = open_source(source_settings(old, heartbeat_seconds=0.1), None, StartSettings())
    old.execute("FLUSH BINARY LOGS")
    target = end_of(old)
    advances = [item for item in items_up_to(stream, target) if isinstance(item, Advance)]
    assert advances[-1].position == target
    assert advances[-1].identity.file_created_s > 0


def test_statements_come_with_their_database(old: MySQL56, schema: str) -> None:
    start = end_of(old)
    old.execute(f"USE {schema}", "CREATE TABLE é (id INT)")
    items = read(source_settings(old), start, end_of(old))
    assert statements_of(items) == ["CREATE TABLE é (id INT)"]
    assert [item.database for item in items if isinstance(item, Statement)] == [schema]

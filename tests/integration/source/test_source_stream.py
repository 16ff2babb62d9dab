"""The items that relay.source reads from the binlogs of real servers."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymysql.connections import Connection

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.errors import RolledBackRows, UnsupportedEvent
from relay.model.change import Advance, RawItem, RawRows, TransactionBegin, TransactionEnd, XaStep
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.settings import StartSettings
from relay.source import ExcludedRange, open_source
from tests.servers.fixtures import EVERY_SERVER
from tests.support.rows.type_zoo import replay
from tests.support.sources.source_reading import (
    ask,
    at,
    end_of,
    executed,
    items_up_to,
    read,
    source_settings,
    statements_of,
    whole_transactions,
)

_ROWS_EVENTS = (
    "Write_rows",
    "Update_rows",
    "Delete_rows",
    "Write_rows_v1",
    "Update_rows_v1",
    "Delete_rows_v1",
)
_BEGINS = ("Gtid", "Anonymous_Gtid", "Gtid_tagged_log_event")


@pytest.fixture
def schema(database: SqlServer, fresh_name: Callable[[str], str]) -> Iterator[str]:
    """A database with a transactional table and one without."""
    name = fresh_name("source")
    database.execute(
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))",
        f"CREATE TABLE {name}.m (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100)) ENGINE=MyISAM",
    )
    yield name
    database.execute(f"DROP DATABASE {name}")


def logged(server: SqlServer, file: str) -> list[tuple[int, str, int, str]]:
    """The server's own list of a file's events: start, type, end, text."""
    return [
        (int(row[1]), str(row[2]), int(row[4]), str(row[5]))
        for row in ask(server, f"SHOW BINLOG EVENTS IN '{file}'")
    ]


def files(server: SqlServer) -> list[str]:
    return [str(row[0]) for row in ask(server, "SHOW BINARY LOGS")]


def rows_in(items: list[RawItem]) -> list[RawRows]:
    return [item for item in items if isinstance(item, RawRows)]


def read_past_stops(
    server: SqlServer, start: BinlogPosition, target: BinlogPosition
) -> tuple[list[list[RawItem]], list[str]]:
    """Read on behind every transaction that the relay refuses.

    Returns the whole transactions, and the refusals.
    """
    transactions: list[list[RawItem]] = []
    refusals: list[str] = []
    while start < target:
        seen: list[RawItem] = []
        excluded: tuple[ExcludedRange, ...] = ()
        stream = open_source(source_settings(server), None, at(start))
        while True:
            try:
                for item in stream.items():
                    seen.append(item)
                    if isinstance(item, TransactionEnd | Advance) and item.position >= target:
                        stream.close()
                transactions += whole_transactions(seen)
                return transactions, refusals
            except RolledBackRows as found:
                excluded, seen = (*excluded, *found.ranges), []
                stream = open_source(source_settings(server), None, at(start), excluded=excluded)
            except UnsupportedEvent as refusal:
                refusals.append(refusal.reason)
                # MariaDB names XA in the GTID event, so the transaction may not have begun for us.
                bounds = [
                    index
                    for index, item in enumerate(seen)
                    if isinstance(item, TransactionBegin | Advance | TransactionEnd)
                ]
                begun = bool(bounds) and isinstance(seen[bounds[-1]], TransactionBegin)
                transactions += whole_transactions(seen[: bounds[-1]] if begun else seen)
                start = next_transaction(server, seen[bounds[-1]].position if bounds else start)
                break
    return transactions, refusals


def next_transaction(server: SqlServer, place: BinlogPosition) -> BinlogPosition:
    later = [
        start
        for start, kind, _, _ in logged(server, place.file)
        if kind in _BEGINS and start > place.offset
    ]
    return BinlogPosition(place.file, later[0]) if later else end_of(server)


@EVERY_SERVER
def test_every_statement_of_the_zoo_comes_as_whole_transactions_at_the_servers_own_places(
    database: SqlServer,
) -> None:
    database.execute("FLUSH BINARY LOGS")
    start = end_of(database)
    with database.connect() as connection:
        replay(connection, database.family)
    target = end_of(database)
    transactions, refusals = read_past_stops(database, start, target)
    begins = [
        event
        for file in files(database)
        if file >= start.file
        for event in logged(database, file)
        if event[1] in _BEGINS
    ]
    assert len(transactions) + len(refusals) == len(begins) > 200
    events = {
        (file, event[0]): event
        for file in files(database)
        if file >= start.file
        for event in logged(database, file)
    }
    for transaction in transactions:
        first, last = transaction[0], transaction[-1]
        assert isinstance(first, TransactionBegin)
        assert isinstance(last, TransactionEnd)
        kind = events[first.position.file, first.position.offset][1]
        assert kind in _BEGINS
        assert first.gtid == last.gtid
        assert (
            first.gtid.rpartition(":" if database.family == "mysql" else " ")[2]
            in events[first.position.file, first.position.offset][3]
        )
        assert any(event[2] == last.position.offset for event in events.values())
        for item in transaction:
            if isinstance(item, RawRows):
                kind = events[item.position.file, item.position.offset][1]
                assert kind in (*_ROWS_EVENTS, "Transaction_payload"), (
                    f"{item.position} is a {kind}"
                )


def workload(connection: "Connection[Any]", schema: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"USE {schema}")
        for sql in (
            *(
                "INSERT INTO a(v) VALUES ('1'), ('2')",
                "BEGIN",
                "INSERT INTO a(v) VALUES ('3')",
                "UPDATE a SET v = 'x'",
                "COMMIT",
            ),
            *(
                "CREATE TABLE b AS SELECT * FROM a",
                "INSERT INTO m(v) VALUES ('m')",
                "FLUSH BINARY LOGS",
                "ALTER TABLE b ADD n INT",
            ),
            *(
                "DELETE FROM a WHERE id = 1",
                "TRUNCATE TABLE b",
                "DROP TABLE b",
                "INSERT INTO a(v) VALUES (REPEAT('y', 100))",
            ),
        ):
            cursor.execute(sql)


@pytest.mark.parametrize("gtid", [False, True], ids=["file", "gtid"])
def test_reading_can_go_on_after_every_transaction(
    database: SqlServer, schema: str, gtid: bool
) -> None:
    settings = source_settings(database, gtid=gtid)
    stream = open_source(settings, None, StartSettings(at="end"))
    with database.connect() as connection:
        workload(connection, schema)
    target = end_of(database)
    items = items_up_to(stream, target)
    transactions = whole_transactions(items)
    assert len(transactions) == 9
    published = GtidSet.parse(stream.start.gtid_set)
    for number, transaction in enumerate(transactions):
        end = transaction[-1]
        assert isinstance(end, TransactionEnd)
        published = published.with_gtid(end.gtid)
        resume = SourcePosition(end.position, str(published) if gtid else "", end.identity)
        assert whole_transactions(read(settings, resume, target)) == transactions[number + 1 :]
    assert str(published) == (executed(database) if gtid else str(published))


def test_a_start_by_place_knows_all_gtids_before_it(database: SqlServer, schema: str) -> None:
    settings = source_settings(database)
    with database.connect() as connection:
        workload(connection, schema)
    middle, before = end_of(database), executed(database)
    database.execute(f"INSERT INTO {schema}.a(v) VALUES ('after')")
    stream = open_source(settings, None, at(middle))
    stream.close()
    assert stream.start.gtid_set == before
    assert stream.start.binlog == middle
    oldest = open_source(settings, None, StartSettings(at="oldest"))
    oldest.close()
    assert oldest.start.binlog == BinlogPosition(files(database)[0], 4)
    assert GtidSet.parse(before).covers(GtidSet.parse(oldest.start.gtid_set))


@EVERY_SERVER
def test_create_table_select_is_one_transaction_with_statement_and_rows(
    database: SqlServer, schema: str
) -> None:
    database.execute(f"INSERT INTO {schema}.a(v) VALUES ('1'), ('2')")
    start = end_of(database)
    database.execute(f"CREATE TABLE {schema}.copied AS SELECT * FROM {schema}.a")
    (transaction,) = whole_transactions(read(source_settings(database), start, end_of(database)))
    assert [type(item).__name__ for item in transaction] == [
        "TransactionBegin",
        "Statement",
        "RawRows",
        "TransactionEnd",
    ]
    assert statements_of(transaction)[0].rstrip().endswith(")")


@EVERY_SERVER
def test_rows_that_the_source_rolled_back_never_come_out(database: SqlServer, schema: str) -> None:
    """MariaDB logs them when a temporary table or one without transactions was touched in between.

    MySQL cuts them off.
    """
    start = end_of(database)
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"USE {schema}")
        for sql in (
            *(
                "BEGIN",
                "INSERT INTO a(v) VALUES ('kept 1')",
                "SAVEPOINT s",
                "INSERT INTO a(v) VALUES ('undone')",
            ),
            *(
                "CREATE TEMPORARY TABLE tmp (id INT)",
                "INSERT INTO a(v) VALUES ('undone')",
                "ROLLBACK TO s",
            ),
            *("INSERT INTO a(v) VALUES ('kept 2')", "COMMIT"),
            *(
                "BEGIN",
                "INSERT INTO a(v) VALUES ('undone')",
                "CREATE TEMPORARY TABLE tmp2 (id INT)",
                "ROLLBACK",
            ),
        ):
            cursor.execute(sql)
    target = end_of(database)
    bodies = [item.body for item in rows_in(read(source_settings(database), start, target))]
    assert [b"kept" in body for body in bodies] == [True, True]
    if database.family == "mariadb":
        with pytest.raises(RolledBackRows):
            items_up_to(open_source(source_settings(database), None, at(start)), target)


def test_a_myisam_row_survives_the_rollback_around_it(
    mariadb: MariaDB, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("mixed")
    mariadb.execute(
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.a (v VARCHAR(9))",
        f"CREATE TABLE {name}.m (v VARCHAR(9)) ENGINE=MyISAM",
    )
    start = end_of(mariadb)
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"USE {name}")
        for sql in (
            *(
                "BEGIN",
                "INSERT INTO a VALUES ('kept')",
                "SAVEPOINT s",
                "INSERT INTO a VALUES ('undone')",
                "INSERT INTO m VALUES ('stays')",
            ),
            *("ROLLBACK TO s", "COMMIT"),
        ):
            cursor.execute(sql)
    bodies = [item.body for item in rows_in(read(source_settings(mariadb), start, end_of(mariadb)))]
    assert [
        next(word for word in (b"kept", b"undone", b"stays") if word in body) for body in bodies
    ] == [b"stays", b"kept"]


@EVERY_SERVER
def test_xa_comes_as_rows_that_are_prepared_and_steps_behind_them(
    database: SqlServer, schema: str
) -> None:
    start = end_of(database)
    xid = f"'{schema}','b',7"
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"USE {schema}")
        for verb in ("COMMIT", "ROLLBACK"):
            for sql in (
                f"XA START {xid}",
                "INSERT INTO a(v) VALUES ('1')",
                f"XA END {xid}",
                f"XA PREPARE {xid}",
                f"XA {verb} {xid}",
            ):
                cursor.execute(sql)
    items = read(source_settings(database), start, end_of(database))
    assert [len(rows_in(transaction)) for transaction in whole_transactions(items)] == [1, 0, 1, 0]
    steps = [item for item in items if isinstance(item, XaStep)]
    assert [step.action.value for step in steps] == [
        "BEGIN",
        "PREPARE",
        "COMMIT",
        "BEGIN",
        "PREPARE",
        "ROLLBACK",
    ]
    assert {step.xid for step in steps} == {f"X'{schema.encode().hex()}',X'62',7"}


def test_ten_thousand_rows_of_a_compressed_transaction_all_come(
    mysql_9: MySQL, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("packed")
    mysql_9.execute(
        f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY, v VARCHAR(200))"
    )
    start = end_of(mysql_9)
    with mysql_9.connect(autocommit=False) as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION binlog_transaction_compression = ON")
        for chunk in range(100):
            values = ", ".join(
                f"({chunk * 100 + number}, REPEAT('v', 150))" for number in range(100)
            )
            cursor.execute(f"INSERT INTO {name}.t VALUES {values}")
        connection.commit()
    target = end_of(mysql_9)
    (transaction,) = whole_transactions(read(source_settings(mysql_9), start, target))
    assert sum(item.body.count(b"v" * 150) for item in rows_in(transaction)) == 10_000
    payload = next(
        event
        for event in logged(mysql_9, start.file)
        if event[1] == "Transaction_payload" and event[0] >= start.offset
    )
    assert {item.position.offset for item in rows_in(transaction)} == {payload[0]}
    assert transaction[-1].position == target


def test_compressed_events_of_mariadb_come_out_plain(new_mariadb: Callable[..., MariaDB]) -> None:
    server = new_mariadb({"log_bin_compress": "ON", "log_bin_compress_min_len": 10})
    server.execute("CREATE DATABASE p", "CREATE TABLE p.t (id INT PRIMARY KEY, v VARCHAR(500))")
    start = end_of(server)
    server.execute(
        "INSERT INTO p.t VALUES (1, REPEAT('v', 400)), (2, REPEAT('v', 400))",
        "UPDATE p.t SET v = REPEAT('w', 300)",
        "DELETE FROM p.t",
        f"CREATE TABLE p.u (id INT COMMENT '{'c' * 400}')",
    )
    assert any("ompressed" in event[1] for event in logged(server, start.file))
    items = read(source_settings(server), start, end_of(server))
    assert [
        (item.type_code, item.body.count(b"v" * 400), item.body.count(b"w" * 300))
        for item in rows_in(items)
    ] == [
        (23, 2, 0),
        (24, 2, 2),
        (25, 0, 2),
    ]
    assert statements_of(items) == [f"CREATE TABLE p.u (id INT COMMENT '{'c' * 400}')"]


def test_a_row_of_forty_megabytes_comes_whole(database: SqlServer, schema: str) -> None:
    database.execute(f"CREATE TABLE {schema}.big (id INT PRIMARY KEY, v LONGBLOB)")
    start = end_of(database)
    database.execute(f"INSERT INTO {schema}.big VALUES (1, REPEAT('b', 40000000)), (2, 'small')")
    items = read(source_settings(database), start, end_of(database))
    assert b"b" * 40_000_000 in b"".join(item.body for item in rows_in(items))


def test_an_idle_source_advances_by_heartbeats(database: SqlServer, schema: str) -> None:
    database.execute(f"INSERT INTO {schema}.a(v) VALUES ('1')")
    stream = open_source(
        source_settings(database, heartbeat_seconds=0.1), None, StartSettings(at="end")
    )
    began = time.monotonic()
    beats = []
    for item in stream.items():
        if isinstance(item, Advance):
            beats.append(item)
        if len(beats) == 20:
            break
    stream.close()
    assert {beat.position for beat in beats} == {stream.start.binlog}
    assert {beat.identity for beat in beats} == {stream.start.identity}
    assert time.monotonic() - began < 15  # beats of the default interval would take 20 s


def test_close_ends_a_waiting_reader(database: SqlServer) -> None:
    stream = open_source(
        source_settings(database, heartbeat_seconds=60, read_timeout_seconds=120),
        None,
        StartSettings(at="end"),
    )
    reader = threading.Thread(target=lambda: list(stream.items()), daemon=True)
    reader.start()
    stream.close()
    reader.join(60)
    assert not reader.is_alive()
    stream.close()


def test_tagged_gtids_are_read_and_resumed_from(
    mysql_9: MySQL, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("tagged")
    mysql_9.execute(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
    settings = source_settings(mysql_9)
    stream = open_source(settings, None, StartSettings(at="end"))
    mysql_9.execute(
        "SET gtid_next = 'AUTOMATIC:blue'",
        f"INSERT INTO {name}.t VALUES (1)",
        f"INSERT INTO {name}.t VALUES (2)",
    )
    target = end_of(mysql_9)
    first, second = whole_transactions(items_up_to(stream, target))
    end = first[-1]
    assert isinstance(end, TransactionEnd)
    assert ":blue:" in end.gtid
    published = GtidSet.parse(stream.start.gtid_set).with_gtid(end.gtid)
    assert whole_transactions(
        read(settings, SourcePosition(end.position, str(published), end.identity), target)
    ) == [second]

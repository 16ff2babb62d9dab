"""Entries of a real Canal 1.1.7 and of the Canal server for the same rows, field by field."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest

from canal_server.wire import EntryKind
from deploy.embedded import DebianMariaDB, Kafka, SqlServer
from relay.settings import RelaySettings
from tests.e2e.canal_server.conftest import canal_server
from tests.e2e.client.conftest import Shop
from tests.e2e.conftest import NewInstallation
from tests.support.clients.canal.compared_entries import differences, entries_until, events
from tests.support.clients.canal.java_client import JavaClient
from tests.support.clients.canal.real_canal import RealCanal
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.type_zoo import FIRST_SECOND, statements
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ZOO = "zoo_types"
_LAST_OF_TYPES = 274
"""The statement that ends the zoo's section about types."""
_LAST = "last_table"
NOT_IN_TOPICS = {"header.eventLength", "change.tableId"}
OF_THE_TRANSACTION = {"header.gtid", "header.props"}
"""The relay names the transaction also where Canal does not read by GTID."""
BY_PATH = {f"{table}.j.sqlType" for table in ("t_json", "t_null")} | {
    "t_charset.bin_.sqlType",
    "t_charset.bin_.value",
}
"""Canal prints these otherwise when it reads a table's types from SHOW CREATE TABLE, as here, than
when it knows them from DDL, as the relay does."""


def run_zoo(server: SqlServer) -> None:
    """Run the zoo's section about types, each statement at its own time."""
    with (
        pymysql.connect(
            host=server.host,
            port=server.port,
            user=server.admin,
            password=server.admin,
            charset="utf8mb4",
            autocommit=True,
        ) as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements("mariadb"):
            if statement.number <= _LAST_OF_TYPES and not statement.fails:
                cursor.execute(f"SET timestamp = {FIRST_SECOND + statement.number}")
                cursor.execute(statement.sql)


@pytest.fixture
def zoo(
    new_installation: NewInstallation, mariadb_10_11: DebianMariaDB, kafka: Kafka
) -> Iterator[Installation]:
    """An installation whose relay publishes the zoo in one partition, as Canal prints it."""
    mariadb_10_11.execute(f"drop database if exists {ZOO}")
    installation = new_installation(
        mariadb_10_11,
        kafka,
        message={"headers": "full", "value_style": "canal", "key_change": "canal"},
        partition={"partitions_num": 1},
        filter={"filter_regex": f"{ZOO}\\..*,e2e.*\\..*"},
    )
    names = (installation.name, ZOO)
    installation.map(
        topics=[{"logicDb": each, "topic": installation.name} for each in names],
        dbs=[{"logicDb": each, "realDbs": each} for each in names],
    )
    yield installation
    mariadb_10_11.execute(f"drop database if exists {ZOO}")


@contextmanager
def reading_canal(server: SqlServer, name: str, folder: Path) -> Iterator[RealCanal]:
    """Run a real Canal that has met its first row: it begins at the end of the binlog."""
    names = f"({ZOO}|{name})"
    with RealCanal(server, names, folder) as canal:
        canal.say("connect")
        canal.say("subscribe", f"{names}\\..*")
        keys = iter(range(1000, 2000))

        def begun() -> bool:
            server.execute(f"insert into {name}.t (id) values ({next(keys)})")
            return canal.batch("get", 100, 500).id != -1

        wait_until(begun, "Canal's first row")
        yield canal


def test_the_entries_of_each_column_type_are_those_of_canal(
    zoo: Installation, mariadb_10_11: DebianMariaDB, kafka: Kafka, tmp_path: Path
) -> None:
    server, name = mariadb_10_11, zoo.name
    with RelayProcess(zoo) as relay:
        relay.wait_for("RUNNING")
        with reading_canal(server, name, tmp_path) as canal:
            run_zoo(server)
            server.execute(
                f"create table {name}.{_LAST} (id int)", f"insert into {name}.{_LAST} values (1)"
            )
            theirs = entries_until(canal, _is_last)
        document = {**zoo.document, "placement": {}, "api": {"port": 0, "token": TOKEN}}
        with serving(RelaySettings.model_validate(document)) as admin:
            shop = Shop(zoo, server, kafka, relay, admin.url, tmp_path)
            with canal_server(shop) as served, JavaClient(served.address, tmp_path) as client:
                client.say("connect")
                client.say("subscribe", ".*")
                ours = entries_until(client, _is_last)
    _compare_rows(theirs, ours)
    _compare_statements(theirs, ours)


def _is_last(entry: Any) -> bool:
    header = entry.header
    return bool(header.tableName == _LAST and header.eventType == 1)


def _compare_rows(theirs: list[Any], ours: list[Any]) -> None:
    """Compare the row events in their order, which one partition keeps."""
    left, right = ([e for e in events(all_, ZOO) if e.change.rowDatas] for all_ in (theirs, ours))
    assert [each.name for each in left] == [each.name for each in right]
    assert len(left) > 100
    found = {field for pair in zip(left, right, strict=True) for field in differences(*pair)}
    types = {each for each in found if each.endswith(".mysqlType")}
    assert found - types == NOT_IN_TOPICS | OF_THE_TRANSACTION | BY_PATH
    for one, other in zip(left, right, strict=True):
        props = [{p.key: p.value for p in each.header.props} for each in (one, other)]
        assert props[1].pop("curtGtid") == other.header.gtid
        assert props[0] == props[1]
    ends = [sum(e.entryType == EntryKind.TRANSACTION_END for e in all_) for all_ in (theirs, ours)]
    assert ends[0] == ends[1]


def _compare_statements(theirs: list[Any], ours: list[Any]) -> None:
    """Compare DDL. Canal delivers annotate events as statements of no table too."""
    left, right = ([e for e in events(all_, ZOO) if e.change.isDdl] for all_ in (theirs, ours))
    assert [each.name for each in left] == [each.name for each in right]
    found = {field for pair in zip(left, right, strict=True) for field in differences(*pair)}
    assert found == {"header.eventLength", *OF_THE_TRANSACTION}

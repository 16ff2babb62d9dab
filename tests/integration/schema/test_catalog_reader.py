"""Unique keys as real servers describe them."""

from collections.abc import Iterator
from contextlib import closing
from typing import Protocol

import pymysql
import pytest
from pydantic import SecretStr
from pymysql.cursors import Cursor

from relay.errors import SourceLoginRefused, SourceUnreachable
from relay.model.table import TableId
from relay.schema import CatalogReader
from relay.settings import SourceSettings


class DatabaseServer(Protocol):
    """What these tests need of a running server."""

    @property
    def port(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def password(self) -> str: ...


TABLE = TableId("catalog`check", "odd name")


def _settings(server: DatabaseServer, **changed: object) -> SourceSettings:
    settings = {
        "host": "127.0.0.1",
        "port": server.port,
        "user": server.user,
        "password": SecretStr(server.password),
        "server_id": 4711,
    }
    return SourceSettings.model_validate(settings | changed)


@pytest.fixture
def table(database: DatabaseServer) -> Iterator[TableId]:
    connection = pymysql.connect(
        host="127.0.0.1",
        port=database.port,
        user=database.user,
        password=database.password,
        autocommit=True,
    )
    with connection, connection.cursor() as cursor:
        keys = (
            "UNIQUE nullable (n), UNIQUE prefix (b(3)), UNIQUE pair (b, a), UNIQUE single (a), KEY "
            "many (a)"
        )
        for sql in (
            "DROP DATABASE IF EXISTS `catalog``check`",
            "CREATE DATABASE `catalog``check`",
            (
                f"CREATE TABLE `catalog``check`.`odd name` (n INT, a INT NOT NULL, b VARCHAR(9) "
                f"NOT NULL, {keys})"
            ),
        ):
            cursor.execute(sql)
        yield TABLE
        cursor.execute("DROP DATABASE `catalog``check`")


def test_keys_that_name_a_row_come_in_the_servers_order(
    database: DatabaseServer, table: TableId
) -> None:
    found = CatalogReader(_settings(database)).read(table, keys=True)
    assert found is not None
    assert [name for name, _ in found.columns] == ["n", "a", "b"]
    assert found.unique_keys == (("b", "a"), ("a",))


def test_keys_are_left_out_where_nobody_wants_them(
    database: DatabaseServer, table: TableId
) -> None:
    with closing(CatalogReader(_settings(database))) as reader:
        found = reader.read(table, keys=False)
    assert found is not None
    assert [name for name, _ in found.columns] == ["n", "a", "b"]
    assert found.unique_keys == ()


def test_the_connection_stays_and_is_made_anew_when_the_server_ends_it(
    database: DatabaseServer, table: TableId
) -> None:
    connection = pymysql.connect(
        host="127.0.0.1",
        port=database.port,
        user=database.user,
        password=database.password,
        autocommit=True,
    )
    with (
        closing(CatalogReader(_settings(database))) as reader,
        connection,
        connection.cursor() as cursor,
    ):
        before = _sessions(cursor)
        for _ in range(2):
            assert reader.read(table, keys=True) is not None
        opened = _sessions(cursor) - before
        assert len(opened) == 1
        cursor.execute(f"KILL {opened.pop()}")
        assert reader.read(table, keys=True) is not None
        cursor.execute(
            f"ALTER TABLE `{table.database.replace('`', '``')}`.`{table.table}` ADD COLUMN late INT"
        )
        found = reader.read(table, keys=False)
        assert found is not None
        assert found.columns[-1][0] == "late"


def _sessions(cursor: Cursor) -> set[int]:
    cursor.execute("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon'")
    return {int(row[0]) for row in cursor.fetchall()}


def test_a_table_that_is_gone_has_no_description(database: DatabaseServer, table: TableId) -> None:
    reader = CatalogReader(_settings(database))
    assert reader.read(TableId(table.database, "gone"), keys=True) is None
    assert reader.read(TableId("gone", "gone"), keys=True) is None


def test_a_refused_login_and_a_dead_address_are_told_apart(
    database: DatabaseServer, table: TableId
) -> None:
    with pytest.raises(SourceLoginRefused, match="nobody_here"):
        CatalogReader(_settings(database, user="nobody_here", password=SecretStr("wrong"))).read(
            table, keys=True
        )
    with pytest.raises(SourceUnreachable, match="odd name"):
        CatalogReader(_settings(database, port=1)).read(table, keys=True)

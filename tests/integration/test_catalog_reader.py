"""Unique keys as real servers describe them."""

from collections.abc import Iterator
from typing import Protocol

import pymysql
import pytest
from pydantic import SecretStr

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
    settings = {"host": "127.0.0.1", "port": server.port, "user": server.user, "password": SecretStr(server.password), "server_id": 4711}
    return SourceSettings.model_validate(settings | changed)


@pytest.fixture
def table(database: DatabaseServer) -> Iterator[TableId]:
    connection = pymysql.connect(host="127.0.0.1", port=database.port, user=database.user, password=database.password, autocommit=True)
    with connection, connection.cursor() as cursor:
        keys = "UNIQUE nullable (n), UNIQUE prefix (b(3)), UNIQUE pair (b, a), UNIQUE single (a), KEY many (a)"
        for sql in (
            "DROP DATABASE IF EXISTS `catalog``check`",
            "CREATE DATABASE `catalog``check`",
            f"CREATE TABLE `catalog``check`.`odd name` (n INT, a INT NOT NULL, b VARCHAR(9) NOT NULL, {keys})",
        ):
            cursor.execute(sql)
        yield TABLE
        cursor.execute("DROP DATABASE `catalog``check`")


def test_keys_that_name_a_row_come_in_the_servers_order(database: DatabaseServer, table: TableId) -> None:
    found = CatalogReader(_settings(database)).read(table)
    assert found is not None
    assert [name for name, _ in found.columns] == ["n", "a", "b"]
    assert found.unique_keys == (("b", "a"), ("a",))


def test_a_table_that_is_gone_has_no_description(database: DatabaseServer, table: TableId) -> None:
    reader = CatalogReader(_settings(database))
    assert reader.read(TableId(table.database, "gone")) is None
    assert reader.read(TableId("gone", "gone")) is None


def test_a_refused_login_and_a_dead_address_are_told_apart(database: DatabaseServer, table: TableId) -> None:
    with pytest.raises(SourceLoginRefused, match="nobody_here"):
        CatalogReader(_settings(database, user="nobody_here", password=SecretStr("wrong"))).read(table)
    with pytest.raises(SourceUnreachable, match="odd name"):
        CatalogReader(_settings(database, port=1)).read(table)

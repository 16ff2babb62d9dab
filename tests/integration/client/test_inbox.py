"""An inbox in real databases: counts are exact, whatever is killed."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import psycopg
import pymysql
import pytest

from deploy.embedded import SqlServer
from deploy.embedded.packaged import Postgres
from roma_client import Change
from roma_client.errors import UsageError
from roma_client.inbox import Inbox, Key
from tests.support.clients.inbox_process import CHANGES, made_changes, survived
from tests.support.waiting import wait_until


@pytest.fixture
def database(mariadb: SqlServer, fresh_name: Callable[[str], str]) -> dict[str, Any]:
    """What PyMySQL needs to open a database with the tables of the service."""
    name = fresh_name("inbox").replace("-", "_")
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.counted (n int)",
        f"insert into {name}.counted values (0)",
        f"create table {name}.applied (at int primary key, id int)",
    )
    account = {
        "user": mariadb.admin,
        "password": mariadb.admin,
        "host": mariadb.host,
        "port": mariadb.port,
    }
    return {**account, "database": name}


@pytest.mark.parametrize("by", ["partition", "row"])
def test_counts_are_exact_after_kills_in_the_effect_and_after_the_commit(
    database: dict[str, Any], by: Key
) -> None:
    survived("pymysql", database, by)
    assert _counted(database) == (CHANGES, CHANGES)


def test_a_paused_client_that_applies_what_another_one_has_applied_changes_nothing(
    database: dict[str, Any],
) -> None:
    (change,) = made_changes(1)
    one, other = (Inbox(pymysql.connect(**database), "billing") for _ in range(2))
    found: list[bool] = []
    second = Thread(target=lambda: found.append(other.apply(change, _count)))

    def effect(cursor: Any, applied: Change) -> None:
        _count(cursor, applied)
        second.start()
        wait_until(lambda: _waits(database), "the second client to wait for the first")

    assert one.apply(change, effect)
    second.join(20)
    assert (found, _counted(database)[0]) == ([False], 1)


@pytest.mark.parametrize("by", ["partition", "row"])
def test_a_client_whose_service_has_read_before_sees_what_another_one_applied_meanwhile(
    database: dict[str, Any], by: Key
) -> None:
    """With REPEATABLE READ a SELECT shows the state of the transaction's first SELECT."""
    change, later = made_changes(2)
    connection = pymysql.connect(**database)
    one, other = (
        Inbox(connection, "billing", by=by),
        Inbox(pymysql.connect(**database), "billing", by=by),
    )
    connection.cursor().execute("select n from counted")
    for each in (change, later):
        assert other.apply(each, _count)
    assert not one.apply(change, _count)
    assert not one.apply(later, _count)
    assert _counted(database)[0] == 2


@pytest.fixture
def in_postgres(postgres: Postgres, fresh_name: Callable[[str], str]) -> dict[str, Any]:
    """What psycopg needs to open a database with the tables of the service."""
    name = fresh_name("inbox").replace("-", "_")
    with psycopg.connect(postgres.conninfo(), autocommit=True) as server:
        server.execute(f"create database {name}".encode())
    account: dict[str, Any] = {"conninfo": postgres.conninfo(name)}
    with psycopg.connect(**account) as connection:
        connection.execute("create table counted (n int)")
        connection.execute("insert into counted values (0)")
        connection.execute("create table applied (at int primary key, id int)")
    return account


@pytest.mark.parametrize("by", ["partition", pytest.param("row", marks=pytest.mark.long)])
def test_counts_in_postgresql_are_exact_after_kills(in_postgres: dict[str, Any], by: Key) -> None:
    survived("psycopg", in_postgres, by)
    assert _in_postgres(in_postgres, "select n from counted") == CHANGES
    assert _in_postgres(in_postgres, "select count(*) from applied") == CHANGES


def test_a_second_client_of_postgresql_waits_for_the_first_and_changes_nothing(
    in_postgres: dict[str, Any],
) -> None:
    (change,) = made_changes(1)
    found: list[bool] = []

    def also() -> None:
        with psycopg.connect(**in_postgres) as connection:
            found.append(Inbox(connection, "billing").apply(change, _count))

    second = Thread(target=also)

    def effect(cursor: Any, applied: Change) -> None:
        _count(cursor, applied)
        second.start()
        waiting = "select count(*) from pg_locks where not granted"
        wait_until(lambda: _in_postgres(in_postgres, waiting) > 0, "the second client to wait")

    with psycopg.connect(**in_postgres) as connection:
        assert Inbox(connection, "billing").apply(change, effect)
    second.join(20)
    assert (found, _in_postgres(in_postgres, "select n from counted")) == ([False], 1)


def test_an_error_in_postgresql_leaves_neither_effect_nor_position(
    in_postgres: dict[str, Any],
) -> None:
    (change,) = made_changes(1)

    def broken(cursor: Any, applied: Change) -> None:
        _count(cursor, applied)
        cursor.execute("select 1 / 0")

    with psycopg.connect(**in_postgres) as connection:
        inbox = Inbox(connection, "billing")
        with pytest.raises(psycopg.errors.DivisionByZero):
            inbox.apply(change, broken)
        assert inbox.apply(change, _count)
    assert _in_postgres(in_postgres, "select n from counted") == 1


def _in_postgres(account: dict[str, Any], sql: str) -> int:
    with psycopg.connect(**account) as connection:
        row = connection.execute(sql.encode()).fetchone()
    return int((row or (0,))[0])


def test_a_connection_that_commits_by_itself_is_refused(database: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is in autocommit mode"):
        Inbox(pymysql.connect(**database, autocommit=True), "billing")


def _count(cursor: Any, _: Change) -> None:
    cursor.execute("update counted set n = n + 1")


def _counted(database: dict[str, Any]) -> tuple[int, int]:
    return (
        _asked(database, "select n from counted"),
        _asked(database, "select count(*) from applied"),
    )


def _waits(database: dict[str, Any]) -> bool:
    waiting = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
    return _asked(database, waiting) > 0


def _asked(database: dict[str, Any], sql: str) -> int:
    with pymysql.connect(**database) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return int((cursor.fetchone() or (0,))[0])

"""Rows that the source rolled back are never published, although they stand in its binlog."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.source.events.open_transaction import may_be_equal
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import ids_in_order, read_topic
from tests.support.sources.group_rows import member
from tests.support.sources.purging import purged
from tests.support.sources.rolling_back import insert_and_roll_back
from tests.support.waiting import wait_until

ROWS: Final = 1500
IN_PARTS: Final[dict[str, Any]] = {
    "buffer": {"buffer_size": 16, "batch_mode": "ITEMSIZE"},
    "transaction": {"split_bytes": 100_000},
}
ANSI: Final = "ANSI_QUOTES"
SLOWLY: Final = 150
"""Rows a second: a part every one and a half seconds, so that a crash meets the transaction."""


@pytest.mark.parametrize("server", ["mariadb", "mysql_9"])
def test_a_rolled_back_savepoint_leaves_nothing_behind(
    server: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """With ANSI_QUOTES, servers log the names of savepoints in double quotes."""
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay, database.connect(user="repl") as connection:
        relay.wait_for("RUNNING")
        with connection.cursor() as cursor:
            cursor.execute(f"create temporary table {name}.scratch (a int) engine=myisam")
            modes = ((1, "", ""), (4, ANSI, ANSI), (7, ANSI, ""), (10, "", ANSI))
            for first, before, after in modes:
                cursor.execute("begin")
                cursor.execute(f"insert into {name}.t values ({first}, 1, 'kept')")
                cursor.execute(f"set sql_mode = '{before}'")
                cursor.execute("savepoint `s t`")
                cursor.execute(f"insert into {name}.t values ({first + 1}, 1, 'gone')")
                cursor.execute(f"insert into {name}.scratch values (1)")
                cursor.execute(f"set sql_mode = '{after}'")
                cursor.execute("rollback to savepoint `s t`")
                cursor.execute(f"insert into {name}.t values ({first + 2}, 1, 'kept')")
                connection.commit()
        wait_until(lambda: 12 in ids_in_order(kafka, name), "all rows")
    assert ids_in_order(kafka, name) == [1, 3, 4, 6, 7, 9, 10, 12]


@pytest.mark.parametrize("server", ["mariadb", "mysql_9"])
def test_of_a_transaction_in_parts_nothing_that_was_rolled_back_is_seen_over_a_crash(
    server: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka, **IN_PARTS)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        installation.limit(SLOWLY)
        kept = insert_and_roll_back(database, name, first=1, rows=ROWS)
        wait_until(lambda: bool(read_topic(kafka.bootstrap, name)), "a part")
        relay.kill()
        installation.limit(None)
        some = len(read_topic(kafka.bootstrap, name))
        installation.map(topics=[{"logicDb": name, "topic": f"{name}_later"}])
        relay.start()
        database.execute(f"insert into {name}.t values (0, 0, 'last')")
        wait_until(
            lambda: ids_in_order(kafka, f"{name}_later") == [0],
            "the last row, under the newer mapping",
        )
        log = relay.log.read_text(errors="replace")
    assert 0 < some < len(kept), "the crash came too late"
    assert ids_in_order(kafka, name) == kept, (
        "the transaction ends under the mapping that it began under"
    )
    if database.family == "mariadb":  # MySQL takes the rows out of its binlog
        assert "rolled back on the source; it is read again without them" in log


def test_a_source_of_a_group_rolls_back_rows_of_a_transaction_in_parts(
    mariadb: MariaDB, mysql_9: MySQL, kafka: Kafka, new_installation: NewInstallation
) -> None:
    group = {"sources": [member("second", mariadb)]}
    installation = new_installation(mysql_9, kafka, group=group, **IN_PARTS)
    name = installation.name
    mariadb.execute(
        f"create database {name}", f"create table {name}.t (id int primary key, n int, v longtext)"
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        relay.stop()
        kept = insert_and_roll_back(mariadb, name, first=1, rows=ROWS)
        mysql_9.execute(f"insert into {name}.t values (0, 0, 'beside it')")
        relay.start()
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) > len(kept), "all rows")
        mariadb.execute(f"insert into {name}.t values (-1, 0, 'last')")
        wait_until(lambda: -1 in ids_in_order(kafka, name), "the last row")
    assert [each for each in ids_in_order(kafka, name) if each > 0] == kept
    assert sorted(each for each in ids_in_order(kafka, name) if each < 1) == [-1, 0]


def test_a_purge_inside_of_a_transaction_in_parts_is_named_and_shows_nothing_that_was_rolled_back(
    new_mariadb: Callable[..., MariaDB], kafka: Kafka, new_installation: NewInstallation
) -> None:
    mariadb = new_mariadb({"slave_connections_needed_for_purge": 0})
    installation = new_installation(mariadb, kafka, **IN_PARTS)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        installation.limit(4 * SLOWLY)
        first = insert_and_roll_back(mariadb, name, first=1, rows=ROWS)
        mariadb.execute("flush binary logs")
        wait_until(lambda: bool(ids_in_order(kafka, name)), "a part")
        purged(mariadb)  # the server keeps what is still sent; what was sent is read to its end
        wait_until(lambda: ids_in_order(kafka, name) == first, "the transaction")

        installation.limit(SLOWLY)
        second = insert_and_roll_back(mariadb, name, first=10_001, rows=ROWS)
        wait_until(lambda: len(ids_in_order(kafka, name)) > len(first), "a part")
        relay.kill()
        visible = ids_in_order(kafka, name)
        mariadb.execute("flush binary logs")
        wait_until(lambda: purged(mariadb), "the purge")
        relay.start()
        relay.wait_for("STOPPED", "BINLOG_PURGED")
        assert ids_in_order(kafka, name) == visible
    assert len(first) < len(visible) < len(first) + len(second), "the crash came too late"
    assert visible == [*first, *second][: len(visible)]


NAMES: Final = (
    *(
        "eE",
        "eé",
        "eÉ",
        "éÉ",
        "eê",
        "éê",
        "sß",
        "ß\u1e9e",
        "i\u0130",
        "I\u0131",
        "\u03a3\u03c2",
        "\u03c3\u03c2",
        "\u03f2\u03c3",
        "kK",
        "åÅ",
    ),
    *("\u043e\u041e", "\u01c6\u01c5", "oø", "ab", "é\u4e2d", "\u5f00\u59cb", "\uac00\uac01"),
)


def lower(names: str) -> str:
    return names.encode().lower().decode()


@pytest.mark.parametrize("server", ["mariadb", "mysql_9"])
def test_names_that_a_server_takes_for_equal_are_not_told_apart(
    server: str, request: pytest.FixtureRequest, fresh_name: Callable[[str], str]
) -> None:
    """The second savepoint replaces the first one where their names are equal."""
    database: SqlServer = request.getfixturevalue(server)
    name = fresh_name("names").replace("-", "_")
    database.execute(f"create database {name}", f"create table {name}.t (id int primary key)")
    equal = set()
    with database.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for one, other in NAMES:
            cursor.execute("begin")
            cursor.execute(f"savepoint `{one}`")
            cursor.execute(f"insert into {name}.t values (1)")
            cursor.execute(f"savepoint `{other}`")
            cursor.execute(f"rollback to `{one}`")
            cursor.execute(f"select count(*) from {name}.t")
            if cursor.fetchall() == ((1,),):
                equal.add(one + other)
            connection.rollback()
    assert {"eE", "eé", "sß"} <= equal
    assert equal <= {names for names in NAMES if may_be_equal(*lower(names))}
    assert not any(may_be_equal(*names) for names in ("ab", "é中", "开始", "oø"))


def test_a_rollback_to_a_name_that_a_later_savepoint_may_have_stops_by_name(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The server keeps the first two rows. It would keep one if it told the names apart."""
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay, mariadb.connect(user="repl") as connection:
        relay.wait_for("RUNNING")
        with connection.cursor() as cursor:
            for sql in (
                f"create temporary table {name}.scratch (a int) engine=myisam",
                "begin",
                f"insert into {name}.t values (1, 1, 'kept')",
                "savepoint e",
                f"insert into {name}.t values (2, 1, 'kept')",
                "savepoint `é`",
                f"insert into {name}.t values (3, 1, 'gone')",
                f"insert into {name}.scratch values (1)",
                "rollback to savepoint e",
            ):
                cursor.execute(sql)
        connection.commit()
        status = relay.wait_for("STOPPED", "UNSUPPORTED_EVENT")
        assert "names the savepoint 'e'" in status.reason
        assert read_topic(kafka.bootstrap, name) == []

"""Sources of `binlog_format` MIXED and STATEMENT: rows and statements, applied in their one order,
add up to the source.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.sources.source_reading import ask
from tests.support.waiting import wait_until

DETERMINISTIC = (
    "insert into {t} values (1, 10, 'it''s'), (2, 20, 'ü')",
    "update {t} set n = n + 1, v = concat(v, '!') where id = 1",
    "begin",
    "insert into {t} select id + 10, n, v from {t}",
    "delete from {t} where id = 2",
    "commit",
    "replace into {t} values (1, 99, 'anew')",
)
# What its text does not say; MIXED logs its rows.
UNSAFE = ("insert into {t} values (3, 30, uuid())",)


@contextmanager
def format_of(server: SqlServer, value: str) -> Iterator[None]:
    """The format of every session that begins now; the relay's own too."""
    server.execute(f"set global binlog_format = {value}")
    try:
        yield
    finally:
        server.execute("set global binlog_format = ROW")


def all_of(kafka: Kafka, name: str) -> list[Seen]:
    topics = [topic for topic in (name, f"{name}.ddl") if topic_answers(kafka.bootstrap, topic)]
    return sorted(
        (each for topic in topics for each in read_topic(kafka.bootstrap, topic)),
        key=lambda each: each.order,
    )


def replayed(server: SqlServer, seen: list[Seen], name: str) -> object:
    """Apply rows and statements in order to a database of their own; what it then holds."""
    copy = f"{name}_copy"
    server.execute(
        "set session binlog_format = row",
        f"create database {copy}",
        f"create table {copy}.t like {name}.t",
    )
    with server.connect(database=copy) as connection, connection.cursor() as cursor:
        for value in (each.value or {} for each in seen):
            if value["type"] == "QUERY":
                cursor.execute(value["sql"].replace(f"{name}.", f"{copy}."))
            elif value["type"] == "INSERT":
                (row,) = value["data"]
                cursor.execute("insert into t values (%s, %s, %s)", list(row.values()))
    held = ask(server, f"select * from {copy}.t order by id")
    server.execute(f"drop database {copy}")
    return held


@pytest.mark.parametrize("family", ["mysql_9", "mariadb"])
def test_rows_and_statements_add_up(
    family: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    server: SqlServer = request.getfixturevalue(family)
    installation = new_installation(server, kafka, source={"statements": "publish"})
    name = installation.name
    mixed = [sql.replace("{t}", f"{name}.t") for sql in (*DETERMINISTIC, *UNSAFE)]
    statement = [
        f"use {name}",
        "insert into t values (4, 4, 'by its default database')",
        f"delete from {name}.t where id = 11",
    ]
    with RelayProcess(installation) as relay:
        with format_of(server, "MIXED"):
            relay.wait_for("RUNNING")
            server.execute(*mixed)
            wait_until(lambda: len(all_of(kafka, name)) >= 6, "what MIXED logged")
        with format_of(server, "STATEMENT"):
            server.execute(*statement)
            wait_until(lambda: len(all_of(kafka, name)) >= 8, "what STATEMENT logged")
        assert relay.stop() == 0
    seen = all_of(kafka, name)
    values = [each.value or {} for each in seen]
    assert [value["type"] for value in values] == ["QUERY"] * 5 + ["INSERT"] + ["QUERY"] * 2
    assert {(value["database"], value["table"], value["isDdl"]) for value in values} == {
        (name, "t", False)
    }
    assert len({each.order for each in seen}) == len(seen)
    assert replayed(server, seen, name) == ask(server, f"select * from {name}.t order by id")

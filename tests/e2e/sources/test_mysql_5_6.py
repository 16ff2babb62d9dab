"""MySQL 5.6 end to end: names from its catalogue and its DDL, times of both formats, every value as
the server prints it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import pymysql

from deploy.embedded import Kafka, MySQL56
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.folded_rows import Texts, fold, sorted_texts
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.rows.type_zoo import statements
from tests.support.sources.changing_table import Table
from tests.support.sources.old_temporals import create_old_table
from tests.support.sources.source_reading import ask, end_of
from tests.support.sources.table_changes import TABLE_CHANGES
from tests.support.waiting import wait_until
from tests.types.server_texts import server_rows

_OLD_ROWS = (
    "(1, '10:11:12', '2026-01-31 01:02:03', '2026-01-31 01:02:03')",
    "(2, '-838:59:59', '0000-00-00 00:00:00', '0000-00-00 00:00:00')",
    "(3, '838:59:59', '9999-12-31 23:59:59', null)",
    "(4, null, '1000-00-01 00:00:00', '2038-01-19 03:14:07')",
    "(5, '-00:00:01', null, '1970-01-01 00:00:01')",
)
# The zoo's statements that this release refuses: a table of documents, one with generated columns,
# and what goes into them.
_REFUSED: Final = {*range(185, 190), *range(247, 252)}
# What the binlog never says: rows logged as text or not at all.
_LOGGED_OTHERWISE: Final = range(391, 398)
_NOT_LOGGED: Final = range(417, 420)
_LAST: Final = 432
# A table whose rows InnoDB changes by itself, with those of another table; this release logs
# nothing of that.
_CASCADED: Final = "chi"
_BEFORE_5_7: Final = ("t_null", re.compile(r", j JSON|, ?j='[^']*'|,j=NULL"))
# This release has no RENAME COLUMN.
CHANGES = (
    *TABLE_CHANGES[:2],
    "alter table {t} change x z int, add column x int",
    *TABLE_CHANGES[3:],
)


def _zoo(database: str) -> Iterator[tuple[int, str, bool]]:
    """The statements about types and shapes of change, all in one database and without the types of
    later releases.
    """
    for statement in statements("mysql"):
        number, sql = statement.number, statement.sql
        if (
            number > _LAST
            or number in _LOGGED_OTHERWISE
            or number in _NOT_LOGGED
            or sql.startswith("CREATE DATABASE")
        ):
            continue
        table, later = _BEFORE_5_7
        sql = later.sub("", sql) if table in sql else sql
        yield number, re.sub(r"\bzoo_(types|dml)\b", database, sql), statement.fails


def _play(server: MySQL56, database: str) -> set[int]:
    """Run the zoo, in row events of both versions by turns.

    The numbers of the statements that were refused.
    """
    refused: set[int] = set()
    with (
        server.connect() as connection,
        connection.cursor() as cursor,
        server.connect() as other,
        other.cursor() as switch,
    ):
        for number, sql, fails in _zoo(database):
            switch.execute(f"set global log_bin_use_v1_row_events = {number % 2}")
            try:
                cursor.execute(sql)
            except pymysql.err.Error:
                if not fails:
                    refused.add(number)
            else:
                assert not fails, f"statement {number} was not refused"
        switch.execute("set global log_bin_use_v1_row_events = off")
    return refused


def _held(server: MySQL56, database: str) -> dict[str, list[Texts]]:
    """All rows of all tables, as the server itself prints them."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"show tables in {database}")
        return {
            str(table): server_rows(connection, database, table) for (table,) in cursor.fetchall()
        }


def _published(kafka: Kafka, topic: str) -> list[dict[str, Any]]:
    """Rows and DDL in their one order."""
    topics = [each for each in (topic, f"{topic}.ddl") if topic_answers(kafka.bootstrap, each)]
    seen = [message for each in topics for message in read_topic(kafka.bootstrap, each)]
    return [each.value or {} for each in sorted(seen, key=lambda each: each.order)]


def test_every_value_is_as_the_server_prints_it(
    mysql_5_6: MySQL56, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mysql_5_6, kafka, message={"row_image": "partial"})
    name = installation.name
    create_old_table(mysql_5_6, name, "old")
    start = end_of(mysql_5_6)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        refused = _play(mysql_5_6, name)
        mysql_5_6.execute(
            "set sql_mode = ''",
            *(f"insert into {name}.old values {row}" for row in _OLD_ROWS),
            f"update {name}.old set d = '2026-02-03 04:05:06', s = null where id = 1",
            f"delete from {name}.old where id = 5",
            f"alter table {name}.old add n int first",
            f"update {name}.old set n = id, t = '-1:02:03'",
            f"insert into {name}.t values (0, 0, 'last')",
        )
        wait_until(
            lambda: any(
                each["type"] == "INSERT" and each["table"] == "t"
                for each in _published(kafka, name)
            ),
            "the last change",
        )
        assert relay.stop() == 0
    assert refused == _REFUSED
    kinds = {
        str(row[2])
        for row in ask(mysql_5_6, f"show binlog events in '{start.file}' from {start.offset}")
    }
    assert {
        f"{kind}_rows{version}" for kind in ("Write", "Update", "Delete") for version in ("", "_v1")
    } <= kinds
    folded, held = fold(_published(kafka, name)), _held(mysql_5_6, name)
    assert len(held) >= 30
    for table in held.keys() - {_CASCADED}:
        assert sorted_texts(folded.get(table, [])) == sorted_texts(held[table]), table


def test_rows_come_under_the_names_of_their_day(
    mysql_5_6: MySQL56, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mysql_5_6, kafka)
    table = Table(mysql_5_6, installation, kafka)

    def change(*sqls: str) -> None:
        for sql in sqls:
            if "_gho to" in sql:
                table.run(
                    "create table {t}_gho like {t}", "alter table {t}_gho add ghost int after id"
                )
            table.run(sql)
            table.row()

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        change(*CHANGES[:3])
        table.wait()
        relay.kill()
        change(*CHANGES[3:6])
        mysql_5_6.execute("flush binary logs")
        change(*CHANGES[6:])
        relay.start()
        table.wait()
        change("alter table {t} add last int first")
        table.wait()
        assert relay.log.read_text().count("tables_described") == 1, (
            "the catalogue was asked at the first start alone"
        )

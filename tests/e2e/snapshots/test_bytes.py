"""A copied row has the bytes of the live message of the same row, over the whole type zoo."""

from typing import Any

import pymysql

from deploy.embedded import Kafka, MySQL, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.snapshots.commands import roma, wait_for
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.rows.type_zoo import statements
from tests.support.waiting import wait_until

_LAST_OF_TYPES = 274
"""The statement that ends the zoo's section about types."""
_MORE = {
    "mariadb": (
        """create table m (id inet6 primary key, u uuid, i inet4, c varchar(50) compressed,
        b blob compressed, v uuid as (u) virtual)""",
        """insert into m values ('::1', '123e4567-e89b-12d3-a456-426655440000', '10.0.0.0', 'x',
        repeat('y', 200), default), ('1::', '00000000-0000-0000-0000-000000000000', '0.0.0.0', null,
        '', default)""",
        """create table m2 (e enum('a', 'b') not null, s set('x', 'y') not null,
        t timestamp(3) not null, unique (e, s, t))""",
        """insert into m2 values ('b', 'x,y', '2024-01-01 00:00:00.5'),
        ('b', '', '2024-01-01 00:00:00.25'), ('a', 'y', '2024-01-01')""",
    ),
    "mysql": (
        """create table m (b bit(9) not null, j json, v vector(3),
        d decimal(9,2) zerofill not null, primary key (b, d))""",
        r"""insert into m values (b'100000001', '{"b": 1.50, "a": [1e20, -0.0, 18446744073709551615,
        "x\\n\\"é", null, true]}', to_vector('[1,2,3]'), 1.5), (b'1', cast(json_object('d',
        cast(1.50 as decimal(9,2)), 't', cast('2024-01-01 10:00:00' as datetime)) as json), null, 0)
        """,
        "create table m2 (n int)",
        "insert into m2 values (1), (2)",
    ),
}


def _play(server: SqlServer, database: str) -> None:
    """Make the tables of the zoo's types, with their rows, in one database."""
    family = "mysql" if isinstance(server, MySQL) else "mariadb"
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"use {database}")
        for statement in statements(family):
            if statement.number > _LAST_OF_TYPES:
                break
            sql = statement.sql.replace("zoo_types", database)
            if not sql.upper().startswith(("CREATE DATABASE", "USE", "DROP DATABASE")):
                try:
                    cursor.execute(sql)
                except pymysql.err.Error:
                    assert statement.fails, sql
        if family == "mysql":
            cursor.execute("set sql_generate_invisible_primary_key = on")
        for sql in _MORE[family]:
            cursor.execute(sql)


def _newest(seen: list[Seen], *, snapshot: bool) -> dict[tuple[str, bytes | None], dict[str, Any]]:
    """What each key's last message says of its row, without times and numbers of batches."""
    found = {}
    for each in seen:
        if each.snapshot is snapshot and each.value is not None:
            said = {k: v for k, v in each.value.items() if k not in ("es", "ts", "id", "gtid")}
            said |= {"type": "", "old": None, "partition": each.partition, "tags": each.tags}
            if each.value["type"] != "DELETE":
                found[each.value["table"], each.key] = said
            else:
                found.pop((each.value["table"], each.key), None)
    return found


def test_copied_rows_have_the_bytes_of_live_messages(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        _play(database, name)
        database.execute(f"insert into {name}.t values (1, 1, 'last')")

        wait_until(lambda: topic_answers(kafka.bootstrap, name), "the topic")

        def live() -> list[Seen]:
            return [each for each in read_topic(kafka.bootstrap, name) if not each.snapshot]

        wait_until(lambda: any(b'.t","1"]' in (e.key or b"") for e in live()), "the rows")
        wanted = _newest(live(), snapshot=False)
        tables = sorted({f"{name}.{table}" for table, key in wanted if key is not None})
        number = roma(installation, "start", *tables).split()[0]
        ended = wait_for(installation, number, "DONE", 90)
    copied = _newest(read_topic(kafka.bootstrap, name), snapshot=True)
    assert len(tables) > 20
    keyed = {key: said for key, said in wanted.items() if key[1] is not None}
    assert ended["rows"] == len(copied)
    assert copied.keys() == keyed.keys()
    differing = {key: (copied[key], keyed[key]) for key in keyed if copied[key] != keyed[key]}
    assert differing == {}

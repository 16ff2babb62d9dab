"""The steps of docs/formats/index.md that give consumers a topic in another format: a new topic
beside the former one, a copy of the tables into it, and the end of the former one.
"""

from typing import Any, Final

import orjson

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.test_formats_by_topic import records
from tests.e2e.formats.zoo_topics import read_records
from tests.e2e.operating.test_format_kept import configure
from tests.snapshots.commands import roma, wait_for
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until

ROWS: Final = 300
LAST: Final = -1
SLOWLY: Final = "sleep(0.01) = 0"
"""The kill meets the copy between two of its chunks."""


def test_a_topic_of_another_format_gets_every_row_while_the_former_one_continues(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    former, new, table = name, f"{name}_debezium", f"{name}.t"
    mariadb.execute(f"insert into {table} select seq, 0, 'old' from {name}.seq_1_to_{ROWS}")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"update {table} set v = 'live' where id <= 10")
        wait_until(lambda: len(records(kafka, former)) == 10, "the rows of the former topic")
        # 1. a rule for the new topic; 2. the tables have both topics
        configure(installation, topic={"rules": [{"topics": new, "format": "debezium-json"}]})
        relay.kill()
        relay.start()
        relay.wait_for("RUNNING")
        installation.map_and_wait(topics=[{"logicDb": name, "topic": f"{former},{new}"}])
        mariadb.execute(f"update {table} set v = 'in both' where id = 11")
        wait_until(lambda: rows_of(kafka, new) == {11: (0, "in both")}, "the first row")
        # 3. the copy; consumers then move
        number = roma(installation, "start", table, "--to-topic", new, "--where", SLOWLY).split()[0]
        wait_until(lambda: any(each.is_copy for each in records(kafka, new)), "a chunk")
        relay.kill()
        mariadb.execute(
            f"delete from {table} where id = {ROWS}",
            f"update {table} set id = 0 where id = 1",
            f"update {table} set v = 'changed' where id in (2, {ROWS - 1})",
        )
        relay.start()
        wait_for(installation, number, "DONE", 90)
        # 4. the end of the former topic
        assert not markers(kafka, former)
        installation.map_and_wait(topics=[{"logicDb": name, "topic": new}])
        mariadb.execute(f"insert into {table} values ({LAST}, 0, 'last')")
        wait_until(lambda: LAST in rows_of(kafka, new), "the last row")
    assert rows_of(kafka, new) == table_rows(mariadb, table)
    assert markers(kafka, former), "readers of the former topic see its end"
    assert f'["{table}","{LAST}"]'.encode() not in {each.key for each in records(kafka, former)}
    assert not any(each.is_copy for each in records(kafka, former))
    acts = [each.act for each in AuditTrail(installation.settings.kafka, name).entries(10)]
    assert "snapshot.started" in acts


def rows_of(kafka: Kafka, topic: str) -> dict[int, tuple[Any, Any]]:
    """The row of each key after its last message in Debezium's JSON."""
    rows: dict[int, tuple[Any, Any]] = {}
    for each in records(kafka, topic):
        payload = orjson.loads(each.value or b"")
        if payload["op"] == "d":
            rows.pop(payload["before"]["id"], None)
        else:
            row = payload["after"]
            rows[row["id"]] = row["n"], row["v"]
    return rows


def table_rows(mariadb: MariaDB, table: str) -> dict[int, tuple[Any, Any]]:
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select id, n, v from {table}")
        return {id_: (n, v) for id_, n, v in cursor.fetchall()}


def markers(kafka: Kafka, topic: str) -> int:
    """The number of markers that say where the tables of a topic are now."""
    return sum("moved" in each.headers for each in read_records(kafka.bootstrap, topic))

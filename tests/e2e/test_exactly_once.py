"""Promises 1 to 3 under kill -9: nothing lost, nothing twice, in order, for a consumer that reads committed."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from tests.support.relay_process import Installation, RelayProcess
from tests.support.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

KILLS = 20


class Load:
    """Small transactions on one counter table: every row's `n` rises by one with each update, so a gap or a repeat shows."""

    def __init__(self, database: MariaDB, schema: str) -> None:
        self.changes = 0
        self._database = database
        self._schema = schema
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        chance = random.Random(7)
        with self._database.connect(user="repl") as connection, connection.cursor() as cursor:
            cursor.execute(f"insert into {self._schema}.t select seq, 0 from {self._schema}.ids")
            self.changes += 50
            connection.commit()
            while not self._stop.is_set():
                first = chance.randrange(1, 48)
                cursor.execute(f"update {self._schema}.t set n = n + 1 where id between {first} and {first + 2}")
                self.changes += 3
                connection.commit()
                self._stop.wait(0.002)


@pytest.mark.timeout(400)
def test_twenty_kills_under_load_lose_nothing_and_repeat_nothing(
    mariadb: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    name = fresh_name("kills").replace("-", "_")
    ids = ",".join(f"({number})" for number in range(1, 51))
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.t (id int primary key, n int)",
        f"create table {name}.ids (seq int primary key)",
        f"insert into {name}.ids values {ids}",
    )
    installation = Installation(name, tmp_path, mariadb, kafka, zookeeper, filter={"filter_regex": f"{name}\\.t"})
    installation.map(topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}])
    relay = RelayProcess(installation)
    chance = random.Random(11)
    pause = threading.Event()
    with relay:
        relay.wait_for("RUNNING")  # it starts at the end of the binlog
        with Load(mariadb, name) as load:
            for _ in range(KILLS):
                relay.wait_for("RUNNING")
                pause.wait(chance.uniform(0, 1))
                relay.kill()
                relay.start()
        relay.wait_for("RUNNING")
        end = mariadb_end(mariadb)
        wait_until(lambda: position_of(installation) >= end, f"the end of the binlog, {end}: {installation.status()}", 60)
    seen = read_topic(kafka.bootstrap, name)
    installation.close()
    assert len(seen) == load.changes
    assert_in_order(seen)
    per_key = Counter(each.key for each in seen)
    with mariadb.connect(user="repl") as connection, connection.cursor() as cursor:
        cursor.execute(f"select id, n from {name}.t")
        for number, value in cursor.fetchall():
            assert per_key[f'["{name}.t","{number}"]'.encode()] == value + 1


def mariadb_end(database: MariaDB) -> tuple[str, int]:
    """Where the binlog ends now."""
    with database.connect(user="repl") as connection, connection.cursor() as cursor:
        cursor.execute("show master status")
        row = cursor.fetchone()
    assert row is not None
    return str(row[0]), int(row[1])


def position_of(installation: Installation) -> tuple[str, int]:
    """How far the instance has published."""
    status = installation.status()
    return (status.position_file, status.position_offset) if status is not None else ("", 0)


def assert_in_order(seen: list[Seen]) -> None:
    """Each key's `n` counts up without gap or repeat, and `order` rises within every partition."""
    counts: dict[bytes, int] = {}
    orders: dict[int, str] = {}
    for each in seen:
        assert each.value is not None
        assert each.key is not None
        value = int(each.value["data"][0]["n"])
        assert value == counts.get(each.key, -1) + 1
        counts[each.key] = value
        assert each.order > orders.get(each.partition, "")
        orders[each.partition] = each.order

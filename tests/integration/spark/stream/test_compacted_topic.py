"""A compacted topic keeps the newest row of a key and forgets deleted ones, and a copy of what is
left equals the source.
"""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from deploy.embedded.processes.jvm import QUICK_START
from relay.kafka import TopicAdmin, TopicSpec
from tests.servers.running import running
from tests.support.copies.spark_copies import copy_of, drain, job
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
_CLEANER: Final = {
    "log.cleaner.backoff.ms": 200,
    "log.retention.check.interval.ms": 500,
    "log.segment.delete.delay.ms": 100,
}
_ROLLS: Final = {
    "segment.ms": "200",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "100",
    "max.compaction.lag.ms": "500",
}


def test_a_copy_of_a_compacted_topic_equals_the_source(
    spark: SparkSession,
    mariadb: MariaDB,
    zookeeper: ZooKeeper,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("compacted").replace("-", "_")
    mariadb.execute(
        f"create database {name}", f"create table {name}.t (id int primary key, n int, v text)"
    )
    settings: dict[str, Any] = {
        "filter": {"filter_regex": f"{name}\\..*"},
        "topic": {"retention": "compact"},
        "message": {"tombstones": True},
        "partition": {"partitions_num": 1},
    }
    with running(Kafka(_CLEANER, jvm_options=QUICK_START)) as kafka:
        installation = Installation(name, tmp_path, mariadb, kafka, zookeeper, **settings)
        installation.map(
            topics=[{"logicDb": "shop", "topic": name}], dbs=[{"logicDb": "shop", "realDbs": name}]
        )
        TopicAdmin(installation.settings.kafka).create(
            TopicSpec(name, 1, 1, {"cleanup.policy": "compact", **_ROLLS})
        )
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            mariadb.execute(f"insert into {name}.t values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')")
            for number in range(5):
                mariadb.execute(f"update {name}.t set n = {number} where id = 1")
            mariadb.execute(
                f"delete from {name}.t where id = 2", f"update {name}.t set id = 30 where id = 3"
            )

            def compacted() -> bool:
                mariadb.execute(
                    f"update {name}.t set n = n + 1 where id = 30"
                )  # a new segment begins with a new row
                found = by_id(kafka, name)
                return (len(found["1"]), len(found["2"]), len(found["3"])) == (1, 0, 0)

            wait_until(compacted, "the compaction")
            assert relay.stop() == 0
            relay.start()
            mariadb.execute(f"insert into {name}.t values (4, 4, 'd')")
            wait_until(lambda: bool(by_id(kafka, name)["4"]), "the relay reads on")
        (kept,) = by_id(kafka, name)["1"]
        drain(job(kafka, name, tmp_path / "job"))
    installation.close()
    assert kept.value is not None
    assert kept.value["data"][0]["n"] == "4"
    copied = copy_of(spark, tmp_path / "job" / "copy", "t")
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select id, n, v from {name}.t")
        source = {tuple(map(str, row)) for row in cursor.fetchall()}
    assert len(source) == 3
    assert {tuple(str(row[each]) for each in ("id", "n", "v")) for row in copied.values()} == source


def by_id(kafka: Kafka, topic: str) -> dict[str, list[Seen]]:
    """The messages of each row, tombstones included."""
    found: dict[str, list[Seen]] = defaultdict(list)
    for each in read_topic(kafka.bootstrap, topic):
        found[orjson.loads(each.key or b"[]")[-1]].append(each)
    return found

"""Sources of a group: copied together under the pairs of one instance, and compared with one copy,
on real servers.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer, ZooKeeper
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import SourcesIncomplete
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, source
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]


@pytest.fixture
def installation(
    mariadb: MariaDB,
    mysql_9: MySQL,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> Iterator[Installation]:
    """A relay's configuration for both servers as one instance; one table on each, with five
    rows.
    """
    name = fresh_name("group").replace("-", "_")
    for at, server in enumerate((mariadb, mysql_9)):
        rows = ", ".join(f"({1000 * at + number}, {number})" for number in range(5))
        table = f"create table {name}.t (id int primary key, n int)"
        server.execute(f"create database {name}", table, f"insert into {name}.t values {rows}")
    second = {"name": "second", "host": mysql_9.host, "port": mysql_9.port}
    filtered = {"filter_regex": f"{name}\\..*"}
    made = Installation(
        name, tmp_path, mariadb, kafka, zookeeper, filter=filtered, group={"sources": [second]}
    )
    made.map(**mapping(name))
    yield made
    made.close()


def mapping(name: str) -> dict[str, list[dict[str, str]]]:
    return {
        "topics": [{"logicDb": "shop", "topic": name}],
        "dbs": [{"logicDb": "shop", "realDbs": name}],
    }


def settings_of(installation: Installation, kafka: Kafka, *sources: dict[str, Any]) -> JobSettings:
    name = installation.name
    sections = {"bootstrap": {"settle_seconds": 0}, "reconcile": {"patience_seconds": 20}}
    return job_settings(kafka, installation.folder, name, mapping(name), *sources, **sections)


def source_of(name: str, server: SqlServer, installation: Installation) -> dict[str, Any]:
    return {
        **source("shop", server),
        "name": name,
        "filter": {"filter_regex": f"{installation.name}\\..*"},
    }


def numbers(spark: SparkSession, settings: JobSettings) -> dict[int, int]:
    """The live rows of the copy: id → n."""
    copy = open_sink(spark, settings).read("shop.t")
    assert copy is not None
    return {row["id"]: row["n"] for row in copy.where("not _deleted").collect()}


@pytest.mark.long
def test_all_sources_are_copied_and_compared(
    spark: SparkSession, mariadb: MariaDB, mysql_9: MySQL, kafka: Kafka, installation: Installation
) -> None:
    name = installation.name
    first, second = (
        source_of("first", mariadb, installation),
        source_of("second", mysql_9, installation),
    )
    settings = settings_of(installation, kafka, first, second)

    def published() -> int:
        return len(read_topic(kafka.bootstrap, name)) if topic_answers(kafka.bootstrap, name) else 0

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (5, 5)")
        mysql_9.execute(f"update {name}.t set n = 77 where id = 1001")
        wait_until(lambda: published() == 2, "a change of each")
        with pytest.raises(SourcesIncomplete, match="second"):
            bootstrap.run(settings_of(installation, kafka, first))

        assert bootstrap.run(settings)["shop.t"].rows == 11
        expected = (
            {number: number for number in range(6)}
            | {1000 + number: number for number in range(5)}
            | {1001: 77}
        )
        assert numbers(spark, settings) == expected

        # Behind the back of the stream, on both.
        mysql_9.execute(
            "set sql_log_bin = 0",
            f"delete from {name}.t where id = 1002",
            f"update {name}.t set n = 44 where id = 1004",
        )
        mariadb.execute("set sql_log_bin = 0", f"update {name}.t set n = 33 where id = 3")
        (found,) = reconcile.run(settings, repair=True)
        assert {each.key: tuple(each.what) for each in found.repaired} == {
            '["shop.t","3"]': ("n",),
            '["shop.t","1002"]': ("the source has no such row",),
            '["shop.t","1004"]': ("n",),
        }
        assert (found.outcome, found.source_rows, found.copy_rows) == (Outcome.EQUAL, 10, 11)

        mariadb.execute(f"delete from {name}.t where id = 0")
        mysql_9.execute(
            f"update {name}.t set n = 88 where id = 1003", f"insert into {name}.t values (1005, 5)"
        )
        wait_until(lambda: published() == 5, "the changes behind the copy")
    assert bootstrap.run(settings, anew=True)["shop.t"].removed == 1
    del expected[0], expected[1002]
    assert numbers(spark, settings) == expected | {3: 33, 1003: 88, 1004: 44, 1005: 5}

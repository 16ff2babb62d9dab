"""Rows of a real table that the source no longer has, in a copy of several real tables."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]


@pytest.mark.long
def test_rows_of_a_dropped_table_are_found_and_deleted(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    """Their keys contain the dropped table (`key_scope = "shard"`), so no table can have them."""
    name = fresh_name("dropped")
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.t_1 (id int primary key, n int)",
        f"create table {name}.t_2 (id int primary key, n int)",
        f"insert into {name}.t_1 values (1, 1), (2, 2)",
        f"insert into {name}.t_2 values (1, 3)",
    )
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "tbs": [{"logicTb": "t", "realTbs": "/t_[0-9]/"}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    one = {**source("one", mariadb), "routing": {"key_scope": "shard"}}
    settings = job_settings(kafka, tmp_path, name, mapping, one)
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(f"drop table {name}.t_2")
    publish_position(kafka, name, "one", mariadb, 200)

    (found,) = reconcile.run(settings)
    gone = f'["shop.t","{name}.t_2","1"]'
    assert [(row.key, tuple(row.what)) for row in found.different] == [
        (gone, ("the source has no such row",))
    ]
    (repaired,) = reconcile.run(settings, repair=True)
    assert ([row.key for row in repaired.repaired], repaired.outcome) == ([gone], Outcome.EQUAL)
    copy = open_sink(spark, settings).read("shop.t")
    assert copy is not None
    assert sorted(row["n"] for row in copy.where("not _deleted").collect()) == [1, 2]

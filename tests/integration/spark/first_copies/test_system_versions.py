"""Copies of system-versioned tables hold the current rows, whoever brings them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB
from spark_jobs import bootstrap, dedup_batch, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.copies.spark_copies import publish
from tests.support.sources.source_reading import end_of
from tests.support.sources.system_versions import Reader, held, run

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]

TABLES = ("implicit", "own")


def current(spark: SparkSession, settings: JobSettings, table: str) -> list[tuple[int, int]]:
    copy = open_sink(spark, settings).read(table)
    assert copy is not None
    return sorted(
        (row["id"], row["n"]) for row in copy.where("not _deleted").select("id", "n").collect()
    )


@pytest.mark.long
def test_a_copy_holds_what_select_gives(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("versions")
    mariadb.execute(f"create database {name} character set utf8mb4")
    start = end_of(mariadb)
    for table in TABLES:
        run(mariadb, name, table, partial=False)
    messages = [
        replace(each, topic=name, partition=0) for each in Reader(mariadb, name).messages(start)
    ]
    mapping = {
        "dbs": [{"logicDb": name, "realDbs": name}],
        "topics": [{"logicDb": name, "topic": name}],
    }
    streamed, copied = (
        job_settings(
            kafka, tmp_path, name, mapping, source("one", mariadb), copy_root=str(tmp_path / folder)
        )
        for folder in ("a", "b")
    )
    publish(kafka, name, *messages)
    figures = dedup_batch.run(streamed)
    history = sum("history" in dict(each.headers) for each in messages)
    assert (figures.history, figures.put_aside) == (history, 0)
    publish_position(kafka, name, "one", mariadb, 10_000)
    bootstrap.run(copied)
    for settings in (streamed, copied):
        for table in TABLES:
            wanted = [
                (int(row["id"] or 0), int(row["n"] or 0))
                for row in held(mariadb, name, table, ["id", "n"])
            ]
            assert current(spark, settings, f"{name}.{table}") == sorted(wanted)
        found = {each.table: each for each in reconcile.run(settings)}
        assert {table: each.outcome for table, each in found.items()} == {
            f"{name}.{table}": Outcome.EQUAL for table in TABLES
        }, found

"""First copies beside a stream that follows renames of columns, on real servers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from spark_jobs import bootstrap, dedup_batch
from spark_jobs.apply.apply import Copies
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import TablesLeftOut
from spark_jobs.first_copy import FirstCopy, TableNote
from spark_jobs.first_copy.alterations import Alterations
from spark_jobs.first_copy.range_scheduler import ShardRange
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import live_rows, open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.copies.rounds import ActsBetweenRounds
from tests.support.copies.spark_copies import records, renamed
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]
ROWS = 12


@pytest.fixture
def name(fresh_name: Callable[[str], str], mariadb: MariaDB) -> str:
    """A database with a table of twelve rows."""
    name = fresh_name("renaming")
    rows = ", ".join(f"({row}, {row}, {100 + row})" for row in range(ROWS))
    create = f"create table {name}.orders (id int primary key, a int, b int)"
    mariadb.execute(f"create database {name}", create, f"insert into {name}.orders values {rows}")
    return name


@pytest.fixture
def settings(name: str, mariadb: MariaDB, kafka: Kafka, tmp_path: Path) -> JobSettings:
    """The jobs that copy it and follow its renames."""
    follow: Mapping[str, Any] = {"truncate": "follow", "schema_changes": {"renamed": "follow"}}
    made = job_settings(kafka, tmp_path, name, mapping(name), source("shop", mariadb), **follow)
    topics = made.kafka.model_copy(update={"topics": (name, f"{name}.ddl")})
    return made.model_copy(update={"kafka": topics})


def mapping(name: str) -> dict[str, list[dict[str, str]]]:
    """The documents that publish the database as shop."""
    return {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }


def shown(spark: SparkSession, settings: JobSettings) -> dict[int, dict[str, int]]:
    """The columns of each live row of the copy that are not null, without the key."""
    copy = open_sink(spark, settings).read("shop.orders")
    assert copy is not None
    return {
        row["id"]: {
            name: row[name] for name in row.asDict() if name in "abc" and row[name] is not None
        }
        for row in live_rows(copy).collect()
    }


def held(mariadb: MariaDB, name: str) -> dict[int, dict[str, int]]:
    """The same of the source."""
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select * from {name}.orders")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return {row.pop("id"): row for row in rows}


def alter(mariadb: MariaDB, name: str, old: str, new: str) -> Callable[[], None]:
    """An act that renames a column."""
    return lambda: mariadb.execute(f"alter table {name}.orders rename column {old} to {new}")


@pytest.mark.long
def test_renames_before_during_and_after_a_first_copy_make_the_rows_of_the_source(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    name: str,
    settings: JobSettings,
    tmp_path: Path,
) -> None:
    """The stream reads its topics late: changes of before a rename come after the copied rows."""
    only = {"filter_regex": f"{name}\\..*"}
    installation = Installation(
        name, tmp_path, mariadb, kafka, zookeeper, filter=only, message={"headers": "full"}
    )
    installation.map(**mapping(name))
    written = [0]

    def change(number: int, text: str) -> None:
        mariadb.execute(f"update {name}.orders set {text} where id = {number}")
        written[0] += 1
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == written[0], text)

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        change(1, "a = 501")
        alter(mariadb, name, "a", "c")()
        change(2, "c = 502")
        # Before the copy: what the stream reads late has the older name.
        during = ActsBetweenRounds(settings, 2, alter(mariadb, name, "b", "a"))
        with pytest.raises(TablesLeftOut, match="Unknown column 'b'"):
            bootstrap.run(settings, during)
        assert dedup_batch.run(settings).renames == 2
        change(3, "a = 503")
        assert bootstrap.run(settings)["shop.orders"].rows == ROWS
        assert shown(spark, settings) == held(mariadb, name)
        # A swap after the copy: the order keys of the copied rows are below it.
        mariadb.execute(f"alter table {name}.orders change a c int, change c a int")
        change(4, "a = 504")
        figures = dedup_batch.run(settings)
        assert (figures.renames, figures.put_aside) == (3, 0)
        assert shown(spark, settings) == held(mariadb, name)
    installation.close()


def follow(spark: SparkSession, settings: JobSettings, order: int, **names: str) -> None:
    """Let the stream follow a rename of the real table."""
    (server,) = settings.sources
    real = f"{server.instance}/{settings.installation}.orders"
    message = renamed("t.ddl", order, real=real, **names)
    Copies.of(spark, settings).apply(records(spark, [message]), "tests")


def test_a_rename_that_is_taken_back_between_two_rounds_is_noticed_where_the_stream_followed_it(
    spark: SparkSession, mariadb: MariaDB, kafka: Kafka, name: str, settings: JobSettings
) -> None:
    """The definition is the one of before; rows of the next round would lose their values."""
    publish_position(kafka, name, "shop", mariadb, 100)

    def rename_and_back() -> None:
        alter(mariadb, name, "a", "c")()
        follow(spark, settings, 150, a="c")
        alter(mariadb, name, "c", "a")()

    with pytest.raises(TablesLeftOut, match="its columns were renamed after its order key"):
        bootstrap.run(settings, ActsBetweenRounds(settings, 2, rename_and_back))
    follow(spark, settings, 160, c="a")
    publish_position(kafka, name, "shop", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].rows == ROWS
    assert shown(spark, settings) == held(mariadb, name)


@pytest.mark.long
def test_a_round_whose_rows_were_read_between_two_swaps_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    name: str,
    settings: JobSettings,
) -> None:
    """The stream follows both swaps after the copy, and they leave the rows as they are."""
    publish_position(kafka, name, "shop", mariadb, 100)
    swap = f"alter table {name}.orders change a b int, change b a int"
    copied, rounds = FirstCopy._copy_round, [0]  # noqa: SLF001 - the swaps come inside a round

    def between_two_swaps(
        run: FirstCopy,
        table: LogicalTable,
        note: TableNote,
        parts: Sequence[ShardRange],
        before: Alterations,
    ) -> int:
        rounds[0] += 1
        if rounds[0] != 2:
            return copied(run, table, note, parts, before)
        mariadb.execute(swap)
        try:
            return copied(run, table, note, parts, before)
        finally:
            mariadb.execute(swap)

    monkeypatch.setattr(FirstCopy, "_copy_round", between_two_swaps)
    assert bootstrap.run(settings)["shop.orders"].rows == ROWS
    follow(spark, settings, 150, a="b", b="a")
    follow(spark, settings, 160, a="b", b="a")
    assert shown(spark, settings) == held(mariadb, name)

"""A table whose definition changes between the order pair and the end of its copy, on a real
server.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB
from spark_jobs import bootstrap
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import RelayBehind, TablesLeftOut
from spark_jobs.runtime.shutdown import Shutdown
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import (
    ShutdownAfterNotes,
    job_settings,
    publish_position,
    source,
)
from tests.support.copies.rounds import ActsBetweenRounds, notes

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]


@pytest.fixture
def name(fresh_name: Callable[[str], str], mariadb: MariaDB, kafka: Kafka) -> str:
    """A database with a table of twelve rows, whose instance has published everything."""
    name = fresh_name("defined")
    rows = ", ".join(f"({row}, {row})" for row in range(12))
    create = f"create table {name}.orders (id int primary key, n int)"
    mariadb.execute(f"create database {name}", create, f"insert into {name}.orders values {rows}")
    publish_position(kafka, name, "one", mariadb, 100)
    return name


@pytest.fixture
def settings(name: str, mariadb: MariaDB, kafka: Kafka, tmp_path: Path) -> JobSettings:
    """The job that copies it, which waits for no relay that is behind."""
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    section = {"settle_seconds": 0, "range_rows": 4, "parallel": 2, "patience_seconds": 0}
    return job_settings(kafka, tmp_path, name, mapping, source("one", mariadb), bootstrap=section)


def copied(
    spark: SparkSession, settings: JobSettings, column: str, table: str = "shop.orders"
) -> Mapping[int, tuple[int, int]]:
    """Return the copy: id → the column's value and the position of the row's order key."""
    copy = open_sink(spark, settings).read(table)
    assert copy is not None
    return {row["id"]: (row[column], row["_execute_position"]) for row in copy.collect()}


@pytest.mark.long
@pytest.mark.parametrize("lines", [1, 2], ids=["no row is noted", "rows are noted"])
def test_a_column_that_was_renamed_after_a_run_was_cut_off_gets_a_fresh_pair(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    name: str,
    settings: JobSettings,
    lines: int,
) -> None:
    bootstrap.run(settings, ShutdownAfterNotes(notes(settings), lines))
    mariadb.execute(
        f"update {name}.orders set n = 50 where id = 5", f"alter table {name}.orders change n m int"
    )
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].ended
    assert copied(spark, settings, "m") == {
        row: (50 if row == 5 else row, 200) for row in range(12)
    }


@pytest.mark.long
def test_a_table_without_a_noted_row_gets_a_fresh_pair(
    spark: SparkSession, mariadb: MariaDB, kafka: Kafka, name: str, settings: JobSettings
) -> None:
    bootstrap.run(settings, ShutdownAfterNotes(notes(settings), 1))
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].ended
    assert set(copied(spark, settings, "n").values()) == {(row, 200) for row in range(12)}


def test_a_schema_change_that_the_relay_has_still_to_read_is_waited_for(
    mariadb: MariaDB, kafka: Kafka, name: str, settings: JobSettings
) -> None:
    mariadb.execute(f"alter table {name}.orders change n m int")
    with pytest.raises(RelayBehind, match="one had committed"):
        bootstrap.run(settings)
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].ended


@pytest.mark.long
def test_a_column_that_is_added_between_two_rounds_is_noticed(
    spark: SparkSession, mariadb: MariaDB, kafka: Kafka, name: str, settings: JobSettings
) -> None:
    added = ActsBetweenRounds(
        settings,
        2,
        lambda: mariadb.execute(f"alter table {name}.orders add column extra int default 7"),
    )
    with pytest.raises(TablesLeftOut, match=r"shop\.orders: its columns or its key changed"):
        bootstrap.run(settings, added)
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].ended
    assert copied(spark, settings, "extra") == dict.fromkeys(range(12), (7, 200))


def test_a_table_that_cannot_be_copied_is_left_out_and_a_finished_one_is_not_copied_again(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    name: str,
    settings: JobSettings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mariadb.execute(
        f"create table {name}.others (id int primary key, n int)",
        f"insert into {name}.others values (1, 1)",
    )
    publish_position(kafka, name, "one", mariadb, 100)
    dropped = ActsBetweenRounds(
        settings, 3, lambda: mariadb.execute(f"alter table {name}.orders drop column n")
    )
    with pytest.raises(
        TablesLeftOut, match=r"1 of 2 tables could not be copied:\n  shop\.orders: "
    ) as left_out:
        bootstrap.run(settings, dropped)
    assert "shop.others" not in str(left_out.value)
    assert copied(spark, settings, "n", "shop.others") == {1: (1, 100)}

    publish_position(kafka, name, "one", mariadb, 200)
    assert {table: (each.rows, each.ended) for table, each in bootstrap.run(settings).items()} == {
        "shop.orders": (12, True),
        "shop.others": (1, True),
    }
    assert "shop.others: is finished and not copied again" in capsys.readouterr().out
    assert copied(spark, settings, "n", "shop.others") == {1: (1, 100)}
    assert set(copied(spark, settings, "id")) == set(range(12))
    bootstrap.run(settings, anew=True)
    assert copied(spark, settings, "n", "shop.others") == {1: (1, 200)}


def test_standard_output_for_programs_is_one_object_a_table(
    mariadb: MariaDB,
    kafka: Kafka,
    name: str,
    settings: JobSettings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bootstrap, "load_settings", lambda _: settings)
    monkeypatch.setattr(Shutdown, "listen", lambda _: None)  # the signals are pytest's
    mariadb.execute(f"create table {name}.log (line text)")
    publish_position(kafka, name, "one", mariadb, 100)

    def reports() -> list[dict[str, object]]:
        capsys.readouterr()
        assert bootstrap.main(["--config", "job.toml", "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    left_out, copied_now = reports()
    assert (left_out["table"], left_out["state"]) == ("shop.log", "left_out")
    assert "no key names its rows" in str(left_out["reason"])
    orders = {"table": "shop.orders", "rows": 12, "removed": 0, "reason": None}
    assert copied_now == {**orders, "state": "copied"}
    assert reports()[1] == {**orders, "state": "copied_before"}

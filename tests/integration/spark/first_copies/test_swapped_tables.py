"""First copies of tables whose names RENAME swaps twice within one round: MySQL 8 and later show
the same times before and after.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MySQL
from spark_jobs import bootstrap
from spark_jobs.errors import TablesLeftOut
from spark_jobs.first_copy import FirstCopy, TableNote, alterations
from spark_jobs.first_copy.alterations import Alterations
from spark_jobs.first_copy.range_scheduler import ShardRange
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import live_rows, open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.sources.source_reading import ask
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]
ROWS = 12


@pytest.fixture
def name(fresh_name: Callable[[str], str], mysql_9: MySQL) -> str:
    """A database with a table, beside one with a table of another time and other values."""
    name = fresh_name("swapped")
    for number, database in enumerate((name, f"{name}_other")):
        rows = ", ".join(f"({row}, {row + 100 * number})" for row in range(ROWS))
        mysql_9.execute(
            f"create database {database}",
            f"create table {database}.orders (id int primary key, n int)",
            f"insert into {database}.orders values {rows}",
        )
        wait_until(partial(is_past, mysql_9, database), "the next second")
    return name


def is_past(server: MySQL, database: str) -> bool:
    """Whether the second in which the table was created is over."""
    newest = (
        "select count(*) from information_schema.tables where table_name = 'orders' and "
        f"table_schema = '{database}' and create_time >= now()"
    )
    return bool(ask(server, newest)[0][0] == 0)


@pytest.mark.long
@pytest.mark.timeout(360)
@pytest.mark.parametrize("often", [1, 9], ids=["once", "always"])
def test_a_round_between_two_swaps_is_read_again_and_never_kept(
    monkeypatch: pytest.MonkeyPatch,
    spark: SparkSession,
    mysql_9: MySQL,
    kafka: Kafka,
    tmp_path: Path,
    name: str,
    often: int,
) -> None:
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    settings = job_settings(kafka, tmp_path, name, mapping, source("shop", mysql_9))
    publish_position(kafka, name, "shop", mysql_9, 100)
    one, other, between = f"{name}.orders", f"{name}_other.orders", f"{name}_other.between"
    swap = f"rename table {one} to {between}, {other} to {one}, {between} to {other}"
    copied, swapped = FirstCopy._copy_round, [0]  # noqa: SLF001 - the swaps come inside a round

    def between_two_swaps(
        run: FirstCopy,
        table: LogicalTable,
        note: TableNote,
        parts: Sequence[ShardRange],
        before: Alterations,
    ) -> int:
        if table.name != "shop.orders" or swapped[0] >= often:
            return copied(run, table, note, parts, before)
        swapped[0] += 1
        mysql_9.execute(swap)
        try:
            assert alterations(run.databases, table) != before
            return copied(run, table, note, parts, before)
        finally:
            mysql_9.execute(swap)
            assert alterations(run.databases, table) == before, "the times do not tell it"

    monkeypatch.setattr(FirstCopy, "_copy_round", between_two_swaps)
    if often > 1:
        with pytest.raises(TablesLeftOut, match="it was altered each time"):
            bootstrap.run(settings)
        assert open_sink(spark, settings).read("shop.orders") is None
        return
    assert bootstrap.run(settings)["shop.orders"].rows == ROWS
    copy = open_sink(spark, settings).read("shop.orders")
    assert copy is not None
    assert {row["id"]: row["n"] for row in live_rows(copy).collect()} == {
        row: row for row in range(ROWS)
    }

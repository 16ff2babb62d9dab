"""Existing tables → copies, and the proof that they are equal, on real servers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, SqlServer
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.ending import Ending
from spark_jobs.errors import PositionMissing, SourceNotTheOne, SourceRefused, SourceUnreachable
from spark_jobs.settings import JobSettings
from spark_jobs.sinks import open_sink
from tests.support.first_copies import job_settings, publish_position, source

pytestmark = [pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"), pytest.mark.usefixtures("spark")]


def shards(server: SqlServer, name: str) -> dict[str, list[dict[str, str]]]:
    """Two databases whose tables are shards of shop.orders, keyed by text and number; every third row in the second."""
    for number in (1, 2):
        server.execute(
            f"create database {name}_{number}", f"create table {name}_{number}.o{number} (a varchar(9), b int, n int, primary key (a, b))"
        )
    values = [(f"{'xXyÿ'[row % 4]}{row // 4}", row, row) for row in range(12)]
    for number, own in ((1, [row for row in values if row[1] % 3]), (2, [row for row in values if not row[1] % 3])):
        server.execute(f"insert into {name}_{number}.o{number} values {', '.join(map(str, own))}")
    return {
        "dbs": [{"logicDb": "shop", "realDbs": f"{name}_1,{name}_2"}],
        "tbs": [{"logicTb": "orders", "realTbs": "o1,o2"}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }


def numbers(spark: SparkSession, settings: JobSettings) -> dict[int, int]:
    """The live rows of the copy: b → n."""
    copy = open_sink(spark, settings).read("shop.orders")
    assert copy is not None
    return {row["b"]: row["n"] for row in copy.where("not _deleted").collect()}


def test_a_copy_goes_on_where_it_was_cut_off_and_a_second_one_removes_what_is_gone(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = fresh_name("shards")
    settings = job_settings(kafka, tmp_path, name, shards(mariadb, name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    ending = EndsWithNotes(tmp_path / "copy" / "_bootstrap", 2)
    assert not bootstrap.run(settings, ending)["shop.orders"].ended
    mariadb.execute(f"update {name}_1.o1 set n = 99 where b = 11", f"insert into {name}_1.o1 values ('zz', 12, 12)")
    assert bootstrap.run(settings)["shop.orders"].ended
    said = capsys.readouterr().out
    assert "shop.orders: 8 rows copied, stopped; the next start goes on" in said
    assert "shop.orders: goes on behind 8 rows" in said
    assert numbers(spark, settings) == {**{row: row for row in range(13)}, 11: 99}

    mariadb.execute(
        f"delete from {name}_1.o1 where b in (1, 2)", f"delete from {name}_2.o2 where b = 3", f"update {name}_2.o2 set n = 66 where b = 6"
    )
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings)["shop.orders"].removed == 3
    expected = {row: row for row in range(13) if row not in (1, 2, 3)} | {11: 99, 6: 66}
    assert numbers(spark, settings) == expected
    assert [each.outcome for each in reconcile.run(settings)] == [Outcome.EQUAL]
    removed = open_sink(spark, settings).read("shop.orders")
    assert removed is not None
    assert {row["_execute_position"] for row in removed.where("_deleted").collect()} == {200}


class EndsWithNotes(Ending):
    """An end that is asked for when so many lines were noted."""

    def __init__(self, notes: Path, lines: int) -> None:
        super().__init__()
        self._notes, self._lines = notes, lines

    @property
    def requested(self) -> bool:
        return len(list(self._notes.rglob("part-*"))) >= self._lines


def test_what_cannot_be_right_is_refused_by_name(mariadb: MariaDB, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path) -> None:
    name = fresh_name("refused")
    mapping = shards(mariadb, name)
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", mariadb))
    with pytest.raises(PositionMissing):
        bootstrap.run(settings)
    publish_position(kafka, name, "one", mariadb, 100)
    wrong = {**source("one", mariadb), "password": "wrong"}
    with pytest.raises(SourceRefused, match="refuses the user"):
        bootstrap.run(job_settings(kafka, tmp_path, name, mapping, wrong))
    with pytest.raises(SourceUnreachable):
        bootstrap.run(job_settings(kafka, tmp_path, name, mapping, {**source("one", mariadb), "port": 1}))
    publish_position(kafka, name, "one", mariadb, 100, server_id=4711)
    with pytest.raises(SourceNotTheOne, match="4711"):
        bootstrap.run(settings)

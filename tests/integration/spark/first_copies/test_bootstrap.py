"""Existing tables → copies, and the proof that they are equal, on real servers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.model.message import OutboundMessage
from relay.model.table import TableId
from spark_jobs import bootstrap, dedup_batch, reconcile
from spark_jobs.apply.table_writer import deletes
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import (
    PositionMissing,
    SourceNotTheOne,
    SourceRefused,
    SourceUnreachable,
    TablesLeftOut,
    TableUnknown,
)
from spark_jobs.origin import Shard
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import (
    ShutdownAfterNotes,
    job_settings,
    publish_position,
    source,
)
from tests.support.copies.spark_copies import change, publish, truncate

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]

ZOO = (
    "id bigint unsigned, name varchar(40), big text, raw varbinary(20), fixed binary(4), blobby "
    "blob, d decimal(20,6), f float, g double, "
    "on_day date, at datetime(3), stamp timestamp(6) null, tm time(2), y year, bits bit(12), "
    "kind enum('a','b,c'), flags set('x','y'), "
    "doc json, z int(6) unsigned zerofill, wide decimal(65,30), latin varchar(10) character set "
    "latin1, primary key (id, name)"
)
ROWS = """
(1,'', '', '', '', '', 0, 0, 0, '1000-01-01', '1000-01-01 00:00:00', '1970-01-01 00:00:01',
    '00:00:00', 1901, b'0', 'a', '', '{}', 0, 0, ''),
(1,'é€😀', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
(18446744073709551615,'a', 'long\\n"text"', x'00ff', x'01', x'deadbeef00', -12345.678901, 1.1, -1e-300, '9999-12-31',
    '2024-02-29 12:34:56.789', '2024-01-01 00:00:00.000001', '-838:59:59.00', 2155, b'101010101010', 'b,c', 'x,y',
    '{"a": [1, 2.5, "é"]}', 42, -99999999999999999999999999999999999.000000000000000000000000000001, 'é'),
(2,'zero', 'x', 'x', 'x', 'x', 1, 16777216, 0.1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '12:00:00', 0, b'1',
    'a', 'y', 'null', 1, 1, 'x')"""  # noqa: E501


@pytest.mark.long
def test_keys_of_before_another_primary_key_can_be_deleted(spark: SparkSession) -> None:
    """They have other values than the key that the table has now."""
    shard = Shard("one", TableId("shop", "orders"), "shop.orders", (), ("a", "b"))
    keys = spark.createDataFrame(
        [('["shop.orders","1"]', "0"), ('["shop.orders","1","2"]', "0")], "key string, order string"
    )
    gone = deletes(keys, LogicalTable("shop.orders", (shard,))).collect()
    assert [(row["key"], row["deleted"], row["data"]) for row in gone] == [
        ('["shop.orders","1"]', True, None),
        ('["shop.orders","1","2"]', True, {"a": "1", "b": "2"}),
    ]


@pytest.mark.parametrize("family", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_all_types_are_copied_and_compared(
    request: pytest.FixtureRequest,
    family: str,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name, database = fresh_name("zoo"), request.getfixturevalue(family)
    database.execute(
        f"create database {name} character set utf8mb4",
        f"create table {name}.t ({ZOO})",
        "set sql_mode = ''",
        f"insert into {name}.t values {ROWS}",
    )
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", database))
    publish_position(kafka, name, "one", database, 100)
    assert bootstrap.run(settings)["shop.t"].rows == 4
    assert [(each.outcome, each.ranges, each.copy_rows) for each in reconcile.run(settings)] == [
        (Outcome.EQUAL, (), 4)
    ]


def test_lag_is_told_from_difference_and_differences_are_repaired(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("differs")
    mapping = shards(mariadb, name)
    settings = job_settings(
        kafka, tmp_path, name, mapping, source("one", mariadb), truncate="follow"
    )
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(
        f"update {name}_1.o1 set n = 77 where b = 1",
        f"delete from {name}_1.o1 where b = 2",
        f"truncate {name}_2.o2",
    )
    publish(kafka, name, deleted(name, "y0", "2"), truncate(name, 160, real=f"one/{name}_2.o2"))
    publish_position(kafka, name, "one", mariadb, 200)
    (found,) = reconcile.run(settings, repair=True)
    assert {each.key: tuple(each.what) for each in found.repaired} == {
        '["shop.orders","X0","1"]': ("n",)
    }
    waiting = {
        '["shop.orders","y0","2"]',
        *(f'["shop.orders","{"xXyÿ"[row % 4]}{row // 4}","{row}"]' for row in (0, 3, 6, 9)),
    }
    assert {each.key: tuple(each.what) for each in found.undecided} == dict.fromkeys(
        waiting, ("the source has no such row",)
    )
    assert found.outcome == Outcome.UNKNOWN
    assert dedup_batch.run(settings).truncates == 1
    assert sorted(numbers(spark, settings)) == [1, 4, 5, 7, 8, 10, 11]
    assert [each.outcome for each in reconcile.run(settings)] == [Outcome.EQUAL]


def deleted(topic: str, a: str, b: str) -> OutboundMessage:
    """The delete of a row of shop.orders, on its way to the copy."""
    types = {"a": "varchar(9)", "b": "int(11)"}
    return replace(
        change(topic, "DELETE", "", 150, types=types, a=a, b=b),
        key=f'["shop.orders","{a}","{b}"]'.encode(),
    )


def shards(server: SqlServer, name: str) -> dict[str, list[dict[str, str]]]:
    """Two databases whose tables are shards of shop.orders, keyed by text and number.

    Every third row in the second.
    """
    for number in (1, 2):
        server.execute(
            f"create database {name}_{number}",
            (
                f"create table {name}_{number}.o{number} (a varchar(9), b int, n int, primary "
                f"key (a, b))"
            ),
        )
    values = [(f"{'xXyÿ'[row % 4]}{row // 4}", row, row) for row in range(12)]
    for number, own in (
        (1, [row for row in values if row[1] % 3]),
        (2, [row for row in values if not row[1] % 3]),
    ):
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
    shutdown = ShutdownAfterNotes(tmp_path / "copy" / "_bootstrap", 2)
    assert not bootstrap.run(settings, shutdown)["shop.orders"].ended
    mariadb.execute(
        f"update {name}_2.o2 set n = 99 where b = 9",
        f"insert into {name}_1.o1 values ('zz', 12, 12)",
    )
    assert bootstrap.run(settings)["shop.orders"].ended
    said = capsys.readouterr().out
    assert "shop.orders: 8 rows copied, stopped; the next start continues" in said
    assert "shop.orders: continues after 8 rows" in said
    assert numbers(spark, settings) == {**{row: row for row in range(13)}, 9: 99}

    mariadb.execute(
        f"delete from {name}_1.o1 where b in (1, 2)",
        f"delete from {name}_2.o2 where b = 3",
        f"update {name}_2.o2 set n = 66 where b = 6",
    )
    publish_position(kafka, name, "one", mariadb, 200)
    assert bootstrap.run(settings, anew=True)["shop.orders"].removed == 3
    expected = {row: row for row in range(13) if row not in (1, 2, 3)} | {9: 99, 6: 66}
    assert numbers(spark, settings) == expected
    removed = open_sink(spark, settings).read("shop.orders")
    assert removed is not None
    assert {row["_execute_position"] for row in removed.where("_deleted").collect()} == {200}


@pytest.mark.long
def test_rows_of_a_shard_that_no_source_shows_stay(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("unseen")
    mapping = shards(mariadb, name)
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(f"drop database {name}_2")
    publish_position(kafka, name, "one", mariadb, 200)
    with pytest.raises(
        TablesLeftOut, match=f"4 rows of shop.orders .* {name}_2 to it, and no source"
    ):
        bootstrap.run(settings)
    assert len(numbers(spark, settings)) == 12
    without = {**mapping, "dbs": [{"logicDb": "shop", "realDbs": f"{name}_1"}]}
    assert (
        bootstrap.run(job_settings(kafka, tmp_path, name, without, source("one", mariadb)))[
            "shop.orders"
        ].removed
        == 4
    )


@pytest.mark.parametrize("what", ["another key", pytest.param("no copy", marks=pytest.mark.long)])
def test_a_copy_that_cannot_go_on_behind_its_notes_begins_anew(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    what: str,
) -> None:
    name = fresh_name("anew")
    rows = ", ".join(f"({row}, {11 - row}, 0)" for row in range(12))
    create = f"create table {name}.orders (a int not null, b int not null, n int, primary key (a))"
    mariadb.execute(f"create database {name}", create, f"insert into {name}.orders values {rows}")
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    assert (
        bootstrap.run(settings, ShutdownAfterNotes(tmp_path / "copy" / "_bootstrap", 2))[
            "shop.orders"
        ].rows
        == 8
    )
    if what == "another key":
        mariadb.execute(f"alter table {name}.orders drop primary key, add primary key (b)")
        publish_position(kafka, name, "one", mariadb, 200)
    else:
        rmtree(tmp_path / "copy" / "shop")
    assert bootstrap.run(settings)["shop.orders"].ended
    assert sorted(numbers(spark, settings)) == list(range(12))


def test_what_cannot_be_right_is_refused_by_name(
    mariadb: MariaDB, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    name = fresh_name("refused")
    nothing = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    with pytest.raises(TableUnknown):
        reconcile.run(job_settings(kafka, tmp_path, name, nothing, source("one", mariadb)))
    mapping = shards(mariadb, name)
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", mariadb))
    with pytest.raises(PositionMissing):
        bootstrap.run(settings)
    publish_position(kafka, name, "one", mariadb, 100)
    wrong = {**source("one", mariadb), "password": "wrong"}
    with pytest.raises(SourceRefused, match="refuses the user"):
        bootstrap.run(job_settings(kafka, tmp_path, name, mapping, wrong))
    with pytest.raises(SourceUnreachable):
        bootstrap.run(
            job_settings(kafka, tmp_path, name, mapping, {**source("one", mariadb), "port": 1})
        )
    publish_position(kafka, name, "one", mariadb, 100, server_id=4711)
    with pytest.raises(SourceNotTheOne, match="4711"):
        bootstrap.run(settings)

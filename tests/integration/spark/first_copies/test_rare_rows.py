"""Rows of rare kinds: stream, first copy, comparison and repair speak of the same rows and see the
same values.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from deploy.embedded import Kafka, MariaDB
from spark_jobs import bootstrap, dedup_batch, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings, SchemaPolicy
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.copies.spark_copies import change, publish

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]

UUID = "123e4567-e89b-12d3-a456-426655440000"
KEYS = {"i": "id inet6 primary key", "l": "id text not null, unique (id)"}
PACKET_BYTES = 1024 * 1024


def mapping(name: str) -> dict[str, list[dict[str, str]]]:
    return {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }


def live(spark: SparkSession, settings: JobSettings, table: str = "shop.t") -> list[Row]:
    """The rows that the copy shows."""
    copy = open_sink(spark, settings).read(table)
    assert copy is not None
    return copy.where("not _deleted").collect()


def test_a_row_with_a_uuid_is_one_row_whoever_brings_it(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name, types = fresh_name("uuid"), {"id": "uuid", "six": "inet6", "four": "inet4", "n": "int"}
    columns = "id uuid primary key, six inet6, four inet4, n int"
    values = f"('{UUID}', '2001:db8::1', '192.0.2.0', 1)"
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.t ({columns})",
        f"insert into {name}.t values {values}",
    )
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(f"update {name}.t set n = 7")
    row = {"id": UUID, "six": "2001:db8::1", "four": "192.0.2.0", "n": "7"}
    publish(kafka, name, change(name, "UPDATE", UUID, 150, table="t", row=row, types=types))
    publish_position(kafka, name, "one", mariadb, 200)
    dedup_batch.run(settings)
    assert [{column: str(each[column]) for column in row} for each in live(spark, settings)] == [
        row
    ]
    assert [(each.outcome, each.ranges, each.copy_rows) for each in reconcile.run(settings)] == [
        (Outcome.EQUAL, (), 1)
    ]


def test_a_limit_of_the_server_for_all_selects_leaves_out_no_row(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("limited")
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.t (id int primary key, n int)",
        f"insert into {name}.t values (1, 1), (2, 2), (3, 3)",
    )
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    mariadb.execute("set global sql_select_limit = 1")
    try:
        bootstrap.run(settings)
        (found,) = reconcile.run(settings)
    finally:
        mariadb.execute("set global sql_select_limit = default")
    assert sorted(row["n"] for row in live(spark, settings)) == [1, 2, 3]
    assert (found.outcome, found.copy_rows) == (Outcome.EQUAL, 3)


@pytest.mark.long
def test_rows_with_rare_keys_are_repaired_instead_of_removed(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("keys")
    mariadb.execute(
        f"create database {name}",
        *(f"create table {name}.{table} ({key}, n int)" for table, key in KEYS.items()),
    )
    mariadb.execute(
        f"insert into {name}.i values ('2001:db8::1', 1)", f"insert into {name}.l values ('abé', 1)"
    )
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(*(f"update {name}.{table} set n = 7" for table in KEYS))
    publish_position(kafka, name, "one", mariadb, 200)
    found = reconcile.run(settings, repair=True)
    assert {each.table: [row.what for row in each.repaired] for each in found} == {
        f"shop.{table}": [("n",)] for table in KEYS
    }
    assert [row["n"] for table in KEYS for row in live(spark, settings, f"shop.{table}")] == [
        7
    ] * len(KEYS)


@contextmanager
def longest_text(server: MariaDB, length: int) -> Iterator[None]:
    """The server's functions give NULL in place of texts that are longer."""
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("select @@global.max_allowed_packet")
        before = cursor.fetchone()[0]
    server.execute(f"set global max_allowed_packet = {length}")
    try:
        yield
    finally:
        server.execute(f"set global max_allowed_packet = {before}")


@pytest.mark.long
def test_a_blob_whose_base64_the_server_does_not_print_is_copied(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name, half = fresh_name("blob"), PACKET_BYTES * 4 // 9
    create = f"create table {name}.t (id int primary key, large mediumblob)"
    mariadb.execute(
        f"create database {name}",
        create,
        f"insert into {name}.t values (1, repeat(x'00ff', {half})), (2, null), (3, '')",
    )
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    with longest_text(mariadb, PACKET_BYTES):
        bootstrap.run(settings)
        assert {row["id"]: row["large"] for row in live(spark, settings)} == {
            1: b"\x00\xff" * half,
            2: None,
            3: b"",
        }
        assert [(each.outcome, each.ranges) for each in reconcile.run(settings)] == [
            (Outcome.EQUAL, ())
        ]


@pytest.mark.long
def test_a_column_that_the_copy_lacks_differs_until_it_is_repaired(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("added")
    mariadb.execute(
        f"create database {name}",
        f"create table {name}.t (id int primary key)",
        f"insert into {name}.t values (1)",
    )
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    mariadb.execute(f"alter table {name}.t add column note varchar(9) default 'x'")
    publish_position(kafka, name, "one", mariadb, 200)
    ignoring = settings.model_copy(update={"schema_changes": SchemaPolicy(added="ignore")})
    assert [(each.outcome, each.ranges) for each in reconcile.run(ignoring)] == [
        (Outcome.EQUAL, ())
    ]
    (found,) = reconcile.run(settings, repair=True)
    assert (found.outcome, [row.what for row in found.repaired]) == (Outcome.EQUAL, [("note",)])
    assert [(row["id"], row["note"]) for row in live(spark, settings)] == [(1, "x")]


@pytest.mark.long
def test_a_key_that_two_shards_have_is_never_called_equal(
    mariadb: MariaDB, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    name = fresh_name("twice")
    for number in (1, 2):
        create = f"create table {name}_{number}.t (id int primary key, n int)"
        mariadb.execute(
            f"create database {name}_{number}",
            create,
            f"insert into {name}_{number}.t values (1, 1), (2, {number}), (1{number}, 1)",
        )
    shards = {**mapping(name), "dbs": [{"logicDb": "shop", "realDbs": f"{name}_1,{name}_2"}]}
    settings = job_settings(kafka, tmp_path, name, shards, source("one", mariadb))
    publish_position(kafka, name, "one", mariadb, 100)
    bootstrap.run(settings)
    (found,) = reconcile.run(settings)
    several = ("several real tables have a row with this key",)
    assert {row.key: row.what for row in found.different} == {
        '["shop.t","1"]': several,
        '["shop.t","2"]': several,
    }


def test_rows_whose_float_keys_print_alike_are_two_rows_of_a_copy(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("alike")
    settings = job_settings(kafka, tmp_path, name, mapping(name), source("one", mariadb))
    types = {"f": "float", "n": "int"}
    for number, key in enumerate(("16777218", "16777220"), 1):
        row = {"f": "16777200", "n": str(number)}
        publish(
            kafka, name, change(name, "INSERT", key, 100 + number, table="t", row=row, types=types)
        )
    publish(
        kafka,
        name,
        change(
            name, "DELETE", "16777218", 200, table="t", row={"f": "16777200", "n": "1"}, types=types
        ),
    )
    dedup_batch.run(settings)
    assert [row["n"] for row in live(spark, settings)] == [2]


@pytest.mark.long
def test_rows_with_one_float_in_the_key_fill_more_than_a_range(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("float")
    rows = ", ".join(f"(0.1, {number})" for number in range(9))
    create = f"create table {name}.t (f float, id int, primary key (f, id))"
    mariadb.execute(f"create database {name}", create, f"insert into {name}.t values {rows}")
    settings = job_settings(
        kafka, tmp_path, name, mapping(name), {**source("one", mariadb), "key_values": "printed"}
    )
    publish_position(kafka, name, "one", mariadb, 100)
    assert bootstrap.run(settings)["shop.t"].rows == 9
    assert sorted(row["id"] for row in live(spark, settings)) == list(range(9))

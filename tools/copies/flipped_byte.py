"""One flipped byte in the copy of a table: measures the search, and checks that only this row is
found and that repair corrects it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from delta.tables import DeltaTable

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer, spark_jars
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import TableFindings
from spark_jobs.config.job import JobSettings
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.sinks import DeltaSink
from tests.support.copies.first_copies import job_settings, publish_position, source

Result = TypeVar("Result")
_TABLE: Final = (
    "create table big.t (id bigint primary key, buyer int unsigned, amount decimal(12,2), rate "
    "double, share float, at datetime(3), "
    "stamp timestamp(6) null, on_day date, y year, bits bit(8), state enum('new','paid'), raw "
    "varbinary(20), doc json, "
    "note varchar(80) character set utf8mb4)"
)
_ROW: Final = (
    "{0}, {0} % 100003, {0} / 7, {0} / 3, {0} / 11, '2024-01-01' + interval {0} second, "
    "if({0} % 9, '2024-01-01' + interval {0} second, null), "
    "'2000-01-01' + interval {0} % 9999 day, 1970 + {0} % 99, {0} % 256, 1 + {0} % 2, "
    "unhex(left(sha2({0}, 256), 32)), json_object('n', {0}), concat(left(sha2({0}, 256), 32), "
    "'-', {0})"
)


def flipped_byte(folder: Path, rows: int, family: str) -> int:
    """Make the table, copy it, compare, flip a byte, compare again, repair.

    Print the time of each step. Return 0 if only the flipped row was found.
    """
    server = MySQL if family == "mysql" else MariaDB
    with server({"innodb_buffer_pool_size": "512M"}) as database, Kafka() as kafka:
        database.execute("create database big", _TABLE)
        _timed(
            f"{rows} rows made on {server.name}",
            lambda: database.execute("set time_zone = '+00:00', sql_log_bin = 0", *_filling(rows)),
        )
        publish_position(kafka, "big", "one", database, 100)
        settings = _settings(kafka, database, folder, rows)
        _timed("Spark started", lambda: open_spark(settings, "flipped byte"))
        _timed("copied", lambda: bootstrap.run(settings))
        (before,) = _timed("compared", lambda: reconcile.run(settings))
        key = rows // 3 * 2
        _timed("one byte flipped", lambda: _flip(settings, key))
        (after,) = _timed("compared again", lambda: reconcile.run(settings))
        found = [(each.key, tuple(each.what)) for each in after.different]
        print(
            f"before: {before.outcome.name.lower()}, {before.copy_rows} rows; after: "
            f"{after.outcome.name.lower()}, {found}",
            flush=True,
        )
        (repaired,) = _timed("compared and repaired", lambda: reconcile.run(settings, repair=True))
        print(
            f"repaired: {repaired.outcome.name.lower()}, "
            f"{[each.key for each in repaired.repaired]}",
            flush=True,
        )
        return int(not _as_promised((before, after, repaired), found, key))


def _as_promised(
    findings: tuple[TableFindings, ...], found: list[tuple[str, tuple[str, ...]]], key: int
) -> bool:
    return [int(each.outcome) for each in findings] == [0, 1, 0] and found == [
        (f'["shop.t","{key}"]', ("note",))
    ]


def _filling(rows: int) -> Iterator[str]:
    """Return statements that double the table until it has its rows; every server accepts them."""
    yield f"insert into big.t select {_ROW.format('1')}"
    there = 1
    while there < rows:
        yield (
            f"insert into big.t select {_ROW.format(f'(id + {there})')} from big.t where id <= "
            f"{rows - there}"
        )
        there = min(rows, 2 * there)


def _settings(kafka: Kafka, database: SqlServer, folder: Path, rows: int) -> JobSettings:
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": "big"}],
        "topics": [{"logicDb": "shop", "topic": "big"}],
    }
    settings = job_settings(kafka, folder, "big", mapping, source("one", database))
    defaults = JobSettings.model_validate(
        {"kafka": settings.kafka, "copy_root": settings.copy_root}
    )
    return settings.model_copy(
        update={
            "bootstrap": defaults.bootstrap.model_copy(
                update={"settle_seconds": 0, "range_rows": max(100_000, rows // 16)}
            ),
            "reconcile": defaults.reconcile,
            "shuffle_partitions": 4,
            "jars": spark_jars(),
        }
    )


def _flip(settings: JobSettings, key: int) -> None:
    """Flip the lowest bit of the first byte of one note."""
    spark = open_spark(settings, "flip")
    copy = DeltaTable.forPath(spark, DeltaSink(spark, settings.copy_root).path("shop.t"))
    copy.update(f"id = {key}", {"note": "concat(char(ascii(note) ^ 1), substring(note, 2))"})


def _timed(what: str, call: Callable[[], Result]) -> Result:
    began = monotonic()
    result = call()
    print(f"{what}: {monotonic() - began:.1f} s", flush=True)
    return result

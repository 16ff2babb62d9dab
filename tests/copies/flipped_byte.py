"""One flipped byte in the copy of a table: how long it takes to find it, and that it alone is found."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TypeVar

from delta.tables import DeltaTable

from deploy.embedded import Kafka, MariaDB, spark_jars
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import TableFindings
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings
from spark_jobs.sinks import DeltaSink
from tests.support.first_copies import job_settings, publish_position, source

Result = TypeVar("Result")
_TABLE = (
    "create table big.t (id bigint primary key, buyer int not null, amount decimal(12,2), at datetime(3), state enum('new','paid'), "
    "note varchar(80) character set utf8mb4)"
)
_ROWS = (
    "insert into big.t select seq, seq % 100003, seq / 7, '2024-01-01' + interval seq second, 1 + seq % 2, "
    "concat(md5(seq), '-', sha1(seq)) from big.seq_1_to_{}"
)


def flipped_byte(folder: Path, rows: int) -> int:
    """Make the table, copy it, compare, flip a byte, compare again; print what each step took. 0: it was found, and it alone."""
    with MariaDB({"innodb_buffer_pool_size": "512M"}) as database, Kafka() as kafka:
        database.execute("create database big", _TABLE)
        _timed(f"{rows} rows made in MariaDB", lambda: database.execute("set sql_log_bin = 0", _ROWS.format(rows)))
        publish_position(kafka, "big", "one", database, 100)
        settings = _settings(kafka, database, folder)
        _timed("copied", lambda: bootstrap.run(settings))
        (before,) = _timed("compared", lambda: reconcile.run(settings))
        key = rows // 3 * 2
        _timed("one byte flipped", lambda: _flip(settings, key))
        (after,) = _timed("compared again", lambda: reconcile.run(settings))
        found = [(each.key, tuple(each.what)) for each in after.different]
        print(f"before: {before.outcome.name.lower()}, {before.copy_rows} rows; after: {after.outcome.name.lower()}, {found}", flush=True)
        return int(not _as_promised(before, after, found, key))


def _as_promised(before: TableFindings, after: TableFindings, found: list[tuple[str, tuple[str, ...]]], key: int) -> bool:
    return before.outcome == 0 and after.outcome == 1 and found == [(f'["shop.t","{key}"]', ("note",))]


def _settings(kafka: Kafka, database: MariaDB, folder: Path) -> JobSettings:
    mapping = {"dbs": [{"logicDb": "shop", "realDbs": "big"}], "topics": [{"logicDb": "shop", "topic": "big"}]}
    settings = job_settings(kafka, folder, "big", mapping, source("one", database))
    defaults = JobSettings.model_validate({"kafka": settings.kafka, "copy_root": settings.copy_root})
    return settings.model_copy(
        update={
            "bootstrap": defaults.bootstrap.model_copy(update={"settle_seconds": 0}),
            "reconcile": defaults.reconcile,
            "shuffle_partitions": 4,
            "jars": spark_jars(),
        }
    )


def _flip(settings: JobSettings, key: int) -> None:
    """The lowest bit of the first byte of one note."""
    spark = open_session(settings, "flip")
    copy = DeltaTable.forPath(spark, DeltaSink(spark, settings.copy_root).path("shop.t"))
    copy.update(f"id = {key}", {"note": "concat(char(ascii(note) ^ 1), substring(note, 2))"})


def _timed(what: str, call: Callable[[], Result]) -> Result:
    began = monotonic()
    result = call()
    print(f"{what}: {monotonic() - began:.1f} s", flush=True)
    return result

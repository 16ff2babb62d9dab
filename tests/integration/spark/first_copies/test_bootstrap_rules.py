"""What rules and masks hide from messages, first copies and repairs hide too: all ways from the
source end in equal rows.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark.sql.functions as sf
import pytest
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from spark_jobs import bootstrap, dedup_batch, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import RulesDiffer
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, source
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.usefixtures("spark"),
]

CUSTOMER = (
    "id int primary key, mail varchar(60), phone char(20) character set latin1, born date, note "
    "text, state enum('draft','sold'), "
    "ratio float, total decimal(10,2) zerofill, raw varbinary(8)"
)
CUSTOMERS = (
    (
        1,
        "ann@secret.example",
        "+49-SECRET-1",
        "1970-01-01",
        "SECRET of Ann",
        "sold",
        1.1,
        10,
        "SECRET1",
    ),
    (
        2,
        "bob@secret.example",
        "SECRETÉ",
        "1980-02-02",
        "SECRET of Bob",
        "draft",
        2.5,
        20,
        "SECRET2",
    ),
    (3, None, None, None, None, "sold", None, None, None),
    (4, "ann@secret.example", "SECRET", "1990-03-03", "", "sold", 0.1, 4.5, ""),
    (5, "eve@secret.example", "1", "2000-04-04", "SECRET", None, 9, 99, "SECRET5"),
    (6, "joe@secret.example", "12SECRET", "2001-05-05", "SECRET", "sold", 1.25, 3, "SECRET6"),
)
LOGIN = "mail varchar(60) primary key, n int"
LOGINS = (("ann@secret.example", 1), ("bob@secret.example", 2), ("EVE@secret.example", 3))


def asked(name: str) -> dict[str, Any]:
    """Conditions, a column that is left out, and a mask of each kind.

    A FLOAT of 1.1 is greater than 1.1, whatever its text says.
    """
    salt = "a salt that nobody would guess"
    return {
        "rules": [
            {
                "tables": f"{name}\\.customer.*",
                "where": "state = 'sold' and (ratio is null or ratio > 1.1 or ratio < 1)",
            },
            {"tables": f"{name}\\.customer.*", "without_fields": ["note"]},
        ],
        "masks": [
            {"columns": f"{name}\\.(customer.*|login.*)\\.mail", "method": "hash", "salt": salt},
            {"columns": f"{name}\\.customer.*\\.raw", "method": "hash", "salt": salt},
            {"columns": f"{name}\\.customer.*\\.phone", "method": "truncate", "length": 2},
            {"columns": f"{name}\\.customer.*\\.born", "method": "replace"},
        ],
    }


def fill(
    database: MariaDB, name: str, table: str, columns: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"create table {name}.{table} ({columns})")
        cursor.executemany(
            f"insert into {name}.{table} values ({', '.join(['%s'] * len(rows[0]))})", rows
        )
        connection.commit()


@pytest.fixture
def relayed(
    mariadb: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> Iterator[tuple[Installation, RelayProcess, JobSettings]]:
    """Tables whose rows are older than the relay, which runs, and a job without its rules."""
    name = fresh_name("masked")
    mariadb.execute(f"create database {name} character set utf8mb4")
    fill(mariadb, name, "customer", CUSTOMER, CUSTOMERS)
    fill(mariadb, name, "login", LOGIN, LOGINS)
    installation = Installation(
        name,
        tmp_path,
        mariadb,
        kafka,
        zookeeper,
        filter={"filter_regex": f"{name}\\..*"},
        **asked(name),
    )
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    installation.map(**mapping)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        yield (
            installation,
            relay,
            job_settings(
                kafka, tmp_path, name, mapping, {**source("shop", mariadb), "instance": "shop"}
            ),
        )
    installation.close()


def with_rules(settings: JobSettings, name: str, **more: object) -> JobSettings:
    (server,) = settings.sources
    ruled = type(server).model_validate(
        {**server.model_dump(), "password": server.password, **asked(name)}
    )
    return settings.model_copy(update={"sources": (ruled,), **more})


def rows_of(spark: SparkSession, settings: JobSettings, table: str) -> dict[str, dict[str, Any]]:
    """The live rows of a copy by key, without what says when they came."""
    copy = open_sink(spark, settings).read(f"shop.{table}")
    assert copy is not None
    guards = {"_order", "_execute_time", "_execute_position"}
    return {
        row["_key"]: {k: v for k, v in row.asDict().items() if k not in guards}
        for row in copy.where("not _deleted").collect()
    }


def all_that_is_written(spark: SparkSession, root: Path) -> str:
    """The content of every file: Parquet as its values, all else as it is."""
    files = [path for path in root.rglob("*") if path.is_file()]
    folders = {str(path.parent) for path in files if path.suffix == ".parquet"}
    values = [
        str(row)
        for folder in folders
        for row in spark.read.parquet(f"{folder}/*.parquet").collect()
    ]
    return "\n".join(
        [
            *values,
            *(path.read_text(errors="replace") for path in files if path.suffix != ".parquet"),
        ]
    )


def damaged_rows_alone_are_repaired(spark: SparkSession, settings: JobSettings) -> None:
    """Change and remove rows of a copy.

    The comparison, which sees the source through the same rules, brings them back.

    Where the key is masked, test_rules_in_every_sink does the same.
    """
    before = rows_of(spark, settings, "customer")
    copy = DeltaTable.forPath(spark, f"{settings.copy_root}/shop/customer")
    copy.update("id = 1", {"phone": sf.lit("+1")})
    copy.delete("id = 6")

    (found,) = reconcile.run(settings, tables=("shop.customer",), repair=True)
    assert {row.key for row in found.repaired} == {'["shop.customer","1"]', '["shop.customer","6"]'}
    assert (found.outcome, rows_of(spark, settings, "customer")) == (Outcome.EQUAL, before)


def test_a_first_copy_is_what_the_stream_would_have_made(
    spark: SparkSession,
    mariadb: MariaDB,
    kafka: Kafka,
    relayed: tuple[Installation, RelayProcess, JobSettings],
    tmp_path: Path,
) -> None:
    installation, _, bare = relayed
    name, copied = installation.name, tmp_path / "copy"
    with pytest.raises(RulesDiffer, match="the relay, which has some"):
        bootstrap.run(bare)
    assert not copied.exists()

    settings = with_rules(bare, name)
    assert {table: done.rows for table, done in bootstrap.run(settings).items()} == {
        "shop.customer": 4,
        "shop.login": 3,
    }
    fill(mariadb, name, "customer_2", CUSTOMER, CUSTOMERS)
    fill(mariadb, name, "login_2", LOGIN, LOGINS)
    wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 7, "the rows of the second tables")
    streamed = with_rules(bare, name, copy_root=str(tmp_path / "streamed"))
    dedup_batch.run(streamed)
    for table in ("customer", "login"):
        twins = {
            key.replace("_2", "", 1): row
            for key, row in rows_of(spark, streamed, f"{table}_2").items()
        }
        assert rows_of(spark, settings, table) == {
            key: row | {"_key": key} for key, row in twins.items()
        }
    damaged_rows_alone_are_repaired(spark, settings)
    written = all_that_is_written(spark, copied)
    assert "SECRET" not in written
    assert "secret.example" not in written
    assert b"secret.example".hex() not in written.lower(), "as it would be noted of a range"

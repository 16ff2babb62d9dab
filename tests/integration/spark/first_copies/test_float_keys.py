"""Tables with a FLOAT in their key: a first copy has the keys and values of the messages, and a
comparison tells rows apart whose keys the server prints alike.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, SqlServer, ZooKeeper
from spark_jobs import bootstrap, reconcile
from spark_jobs.comparison import Outcome
from spark_jobs.sinks import open_sink
from tests.support.copies.first_copies import job_settings, publish_position, source
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
_RANDOM: Final = 60
_HASH_LENGTH: Final = 64
_LARGEST_BITS: Final = 0x7F7FFFFF
_EDGES: Final = (
    "0e0",
    "'-0'",
    "0.1",
    "16777216",
    "16777217",
    "16777218",
    "16777220",
    "1e-45",
    "1.17549421e-38",
    "3.40282346e38",
    "-1.5",
)


def single(bits: int) -> str:
    """SQL of the FLOAT with these bits."""
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    return f"{value:.8e}"


def singles(seed: int) -> list[str]:
    """SQL of FLOATs: edges, both signs of all magnitudes, denormals, and integers above 2^24."""
    random = Random(seed)
    usual = [
        single(random.randint(1, _LARGEST_BITS) | random.getrandbits(1) << 31)
        for _ in range(_RANDOM)
    ]
    denormals = [single(random.getrandbits(23)) for _ in range(_RANDOM // 10)]
    return [
        *_EDGES,
        *usual,
        *denormals,
        *(str(random.randrange(2**24, 2**31)) for _ in range(_RANDOM // 5)),
    ]


def _refined(name: str) -> dict[str, Any]:
    """Rules for the table r, and a mask on the FLOAT in the key of m."""
    return {
        "rules": [{"tables": f"{name}\\.r", "where": "f <> 16777220"}],
        "masks": [{"columns": f"{name}\\.m\\.f", "method": "hash", "salt": "a salt of sixteen"}],
    }


@pytest.mark.parametrize(
    ("family", "tables"),
    [
        ("mariadb", "t"),
        pytest.param("mariadb", "rm", marks=pytest.mark.long),
        pytest.param("mysql_9", "trm", marks=pytest.mark.long),
    ],
)
def test_a_first_copy_has_the_keys_and_values_of_the_messages(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    family: str,
    tables: str,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    """Table t as it is, r under a rule, and m with a mask on the key."""
    name, database = fresh_name("floats"), request.getfixturevalue(family)
    assert isinstance(database, SqlServer)
    columns = "f float, d float(7,2), n float(7,2), primary key (f, d)"
    database.execute(
        f"create database {name}",
        *(f"create table {name}.{table} ({columns})" for table in tables),
    )
    rows = [
        f"({value}, {number}.{number % 100:02}, -{number}.37)"
        for number, value in enumerate(singles(5))
    ]
    installation = Installation(
        name,
        tmp_path,
        database,
        kafka,
        zookeeper,
        filter={"filter_regex": f"{name}\\..*"},
        **_refined(name),
    )
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    installation.map(**mapping)
    ranges = {"settle_seconds": 0, "range_rows": 60, "parallel": 2}
    settings = job_settings(
        kafka,
        tmp_path,
        name,
        mapping,
        {**source("shop", database), **_refined(name)},
        bootstrap=ranges,
        reconcile={"bucket_rows": 50, "range_rows": 200},
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        for table in tables:
            database.execute(f"insert into {name}.{table} values {', '.join(rows)}")
        expected = {f"shop.{table}": len(rows) - (table == "r") for table in tables}
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == sum(expected.values()), "rows")
        copied = bootstrap.run(settings)
        assert {table: each.rows for table, each in copied.items()} == expected
        equal = dict.fromkeys(expected, Outcome.EQUAL)
        database.execute(
            "set session sql_log_bin = 0",
            *(f"update {name}.{table} set n = 7 where f = 16777218" for table in tables),
        )
        repaired = {each.table: each for each in reconcile.run(settings, repair=True)}
        assert {each.table: each.outcome for each in repaired.values()} == equal
        assert {table: len(each.repaired) for table, each in repaired.items()} == dict.fromkeys(
            expected, 1
        )
    installation.close()
    for table, count in expected.items():
        messages = {
            (each.key or b"").decode(): (each.value or {})["data"][0]
            for each in read_topic(kafka.bootstrap, name)
            if f'["{table}",' in (each.key or b"").decode()
        }
        assert len(messages) == count
        copy = open_sink(spark, settings).read(table)
        assert copy is not None
        found = {
            row["_key"]: (row["f"], row["d"], row["n"])
            for row in copy.where("not _deleted").collect()
        }
        (changed,) = (key for key, row in found.items() if row[2] == 7)
        del found[changed], messages[changed]
        assert found == {
            key: tuple(_value(data[column]) for column in "fdn") for key, data in messages.items()
        }


@pytest.mark.long
@pytest.mark.parametrize("family", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_rows_whose_keys_the_server_prints_alike_are_compared_and_repaired(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    family: str,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name, database = fresh_name("floats"), request.getfixturevalue(family)
    assert isinstance(database, SqlServer)
    keys = [16777216, 16777218, 16777220, 16777222]
    rows = ", ".join(f"({key}, {number})" for number, key in enumerate(keys))
    database.execute(
        f"create database {name}",
        f"create table {name}.t (f float primary key, n int)",
        f"insert into {name}.t values {rows}, (0.1, 4), (-0.5, 5)",
    )
    mapping = {
        "dbs": [{"logicDb": "shop", "realDbs": name}],
        "topics": [{"logicDb": "shop", "topic": name}],
    }
    settings = job_settings(kafka, tmp_path, name, mapping, source("one", database))
    publish_position(kafka, name, "one", database, 100)
    assert bootstrap.run(settings)["shop.t"].rows == 6
    database.execute(
        f"update {name}.t set n = 10 where n = 0",
        f"delete from {name}.t where n = 1",
        f"insert into {name}.t values (16777224, 6)",
    )
    publish_position(kafka, name, "one", database, 200)
    (found,) = reconcile.run(settings, repair=True)
    assert {each.key: tuple(each.what) for each in found.repaired} == {
        '["shop.t","16777216"]': ("n",),
        '["shop.t","16777218"]': ("the source has no such row",),
        '["shop.t","16777224"]': ("the copy has no such row",),
    }
    assert found.outcome == Outcome.EQUAL
    copy = open_sink(spark, settings).read("shop.t")
    assert copy is not None
    left = {"16777216": 10, "16777220": 2, "16777222": 3, "0.1": 4, "-0.5": 5, "16777224": 6}
    assert {row["_key"]: row["n"] for row in copy.where("not _deleted").collect()} == {
        f'["shop.t","{key}"]': n for key, n in left.items()
    }


def _value(text: str) -> float | str:
    """The FLOAT that a message shows, or its hash."""
    if len(text) == _HASH_LENGTH:
        return text
    (value,) = struct.unpack("<f", struct.pack("<f", float(text)))
    return float(value)

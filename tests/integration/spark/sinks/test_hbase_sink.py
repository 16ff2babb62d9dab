"""Copies in a real HBase: the rule under both guards, what late changes and compactions do, and
what a reader sees.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import HBase
from relay.envelope import order_text
from relay.model.message import OutboundMessage
from spark_jobs.apply.apply import Copies
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseRefused, HBaseUnreachable, JobConfigurationError
from spark_jobs.hbase.cells import INFO, ORDER, UPDATE_INFO, Change
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.guards import Row, write_by_version
from spark_jobs.hbase.java_files import JavaFiles
from spark_jobs.hbase.tables import Tables
from spark_jobs.hbase.task import read_region
from spark_jobs.sinks import live_rows
from spark_jobs.spark_util.batch_stats import BatchFigures
from tests.support.copies.hbase_admin import hbase_admin
from tests.support.copies.spark_copies import batch, change, copies, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
TIME_MS = 1_700_000_000_000
OpenCopies = Callable[..., Copies]


@pytest.fixture
def opened(
    spark: SparkSession, hbase: HBase, fresh_name: Callable[[str], str], tmp_path: Path
) -> OpenCopies:
    """Copies in a namespace of the test's own; arguments are settings of the section."""
    section = {"thrift": (hbase.address,), "namespace": fresh_name("copies")}

    def opened(client: str = "thrift2", **settings: object) -> Copies:
        way: dict[str, object] = (
            {} if client == "thrift2" else {"client": "jvm", "quorum": (hbase.quorum,)}
        )
        if client == "files":
            way["files"] = {"staging": (tmp_path / "staging").as_uri(), "from_rows": 4}
        return copies(spark, tmp_path, sink="hbase", hbase={**section, **way, **settings})

    return opened


def apply(place: Copies, spark: SparkSession, *messages: OutboundMessage) -> BatchFigures:
    return place.apply(records(spark, messages), "tests", None)


def everything_in(place: Copies) -> dict[str, dict[str, object]]:
    copy = place.sink.read("shop.orders")
    assert copy is not None
    return {row["_key"]: row.asDict() for row in copy.collect()}


WAYS = [
    ("version", "thrift2"),
    pytest.param("version", "files", marks=pytest.mark.long),
    ("check_and_mutate", "thrift2"),
    pytest.param("check_and_mutate", "jvm", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("guard", "client"), WAYS)
def test_the_rule_case_by_case(
    spark: SparkSession, opened: OpenCopies, guard: str, client: str
) -> None:
    place = opened(client, guard=guard)
    deleted = [("dead", 20, "gone"), ("tomb", 20, "compacted")]
    apply(
        place,
        spark,
        *batch(
            ("older", 20, "x"), ("newer", 20, "x"), ("equal", 20, "x"), *deleted, ("acb", 100, "A")
        ),
    )
    late = [("older", 19, "late"), ("dead", 19, "late"), ("tomb", 19, "late")]
    figures = apply(
        place,
        spark,
        *batch(
            ("none", 1, "new"), *late, ("newer", 21, None), ("equal", 20, "x"), ("acb", 102, "C")
        ),
    )
    assert figures.winners == (4 if guard == "check_and_mutate" else 7)
    apply(place, spark, *batch(("acb", 101, "B"), ("newer", 22, ""), ("equal", 30, None)))
    copy = place.sink.read("shop.orders")
    assert copy is not None
    expected = {"none": "new", "older": "x", "newer": "", "equal": None, "acb": "C"}
    assert {row["id"]: row["n"] for row in live_rows(copy).collect()} == expected
    place.sink.forget_deletes(TIME_MS, "tests")  # the execute time of all of them: none is older
    assert copy.count() == 7
    place.sink.forget_deletes(TIME_MS + 1, "tests")
    assert copy.count() == 5


def test_only_a_table_of_many_rows_goes_as_files(spark: SparkSession, opened: OpenCopies) -> None:
    """Many changes of one row are one row."""
    many = [change("t", "INSERT", str(key), key, table="many", id=str(key)) for key in range(1, 5)]
    hot = [
        change("t", "UPDATE", "1", order, table="hot", id="1", n=str(order))
        for order in range(1, 9)
    ]
    few = change("t", "INSERT", "1", 1, table="few", id="1")
    place = opened("files")
    with patch.object(JavaFiles, "write", autospec=True, side_effect=JavaFiles.write) as in_files:
        apply(place, spark, *hot, few)
        in_files.assert_not_called()
        figures = apply(place, spark, *many, *hot, few)
    assert [list(call.args[2]) for call in in_files.call_args_list] == [["shop.many"]]
    assert figures.winners == 6
    found = {table: place.sink.read(f"shop.{table}") for table in ("many", "hot", "few")}
    assert {table: copy.count() for table, copy in found.items() if copy is not None} == {
        "many": 4,
        "hot": 1,
        "few": 1,
    }


def test_columns_types_and_keys_come_back(spark: SparkSession, opened: OpenCopies) -> None:
    place = opened(salt_buckets=4, writers=2, rows_per_call=2)
    types = {"id": "bigint", "note": "varchar(20)", "price": "decimal(10,2)"}
    keys = [str(number) for number in range(5)]
    apply(
        place,
        spark,
        *(
            change("t", "INSERT", key, 1, types=types, id=key, note="é\0", price="1.50")
            for key in keys
        ),
    )
    changed = change(
        "t", "UPDATE", "3", 5, types={"id": "bigint", "added": "int"}, id="3", added="7"
    )
    apply(place, spark, changed, change("t", "DELETE", "4", 6, types=types, id="4"))
    found = everything_in(place)
    assert sorted(found) == [f'["shop.orders","{key}"]' for key in keys]
    first, third = found['["shop.orders","0"]'], found['["shop.orders","3"]']
    assert (first["id"], first["note"], str(first["price"]), first["added"]) == (
        0,
        "é\0",
        "1.50",
        None,
    )
    assert (
        third["id"],
        third["note"],
        third["price"],
        third["added"],
        third["_execute_position"],
    ) == (3, None, None, 7, 5)
    assert found['["shop.orders","4"]']["_deleted"]
    assert (place.sink.tables(), place.sink.read("shop.nothing")) == (["shop.orders"], None)


@pytest.fixture
def settings(hbase: HBase, fresh_name: Callable[[str], str]) -> HBaseSettings:
    return HBaseSettings(thrift=(hbase.address,), namespace=fresh_name("raw"))


def row(key: str, order: int, value: str, *, deleted: bool = False) -> Row:
    return key.encode(), Change(order_text(TIME_MS, order), deleted, {"n": value})


def live(settings: HBaseSettings, name: bytes) -> Mapping[bytes, str | None]:
    return {
        key: change.columns["n"]
        for key, change in read_region(settings, name, (b"", b""))
        if not change.deleted
    }


def test_only_a_marker_outlives_a_major_compaction(hbase: HBase, settings: HBaseSettings) -> None:
    """Why a deleted row is kept: what HBase itself removed comes back with a change that is
    late.
    """
    with Gateway(settings) as gateway, hbase_admin(hbase) as admin:
        name = Tables(gateway, settings).ensure("shop.orders")
        write_by_version(
            gateway,
            name,
            [row("marked", 10, "x"), row("removed", 10, "x"), row("marked", 20, "x", deleted=True)],
        )
        guard = {
            "family": UPDATE_INFO,
            "qualifier": ORDER,
            "value": order_text(TIME_MS, 10).encode(),
        }
        assert gateway.ask(
            "checkAndDelete",
            table=name,
            row=b"removed",
            tdelete=idl.TDelete(row=b"removed", timestamp=20),
            **guard,
        )
        late = [row("marked", 14, "late"), row("removed", 14, "late")]
        write_by_version(gateway, name, late)
        assert live(settings, name) == {}
        admin.compact(name.decode())
        write_by_version(gateway, name, late)
        assert live(settings, name) == {b"removed": "late"}


def test_hbase_that_is_away_or_refuses_is_named(settings: HBaseSettings) -> None:
    away = settings.model_copy(update={"thrift": ("127.0.0.1:1",), "patience_seconds": 1})
    with (
        Gateway(away) as gateway,
        pytest.raises(
            HBaseUnreachable, match=r"does not answer through the gateway at 127\.0\.0\.1:1:"
        ),
    ):
        Tables(gateway, away).ensure("shop.orders")
    with Gateway(settings) as gateway, pytest.raises(HBaseRefused, match="nowhere"):
        gateway.ask("getMultiple", table=b"default:nowhere", tgets=[idl.TGet(row=b"1")])


def test_another_salt_is_refused(spark: SparkSession, opened: OpenCopies) -> None:
    """A changed row would stay under its former row key as well, as it was."""
    apply(opened(), spark, *batch(("1", 1, "a")))
    with pytest.raises(
        JobConfigurationError,
        match=r"shop\.orders was written with hbase\.salt_buckets = 0, and .* file has 4",
    ):
        apply(opened(salt_buckets=4), spark, *batch(("1", 2, "b")))
    assert {key: row["n"] for key, row in everything_in(opened()).items()} == {
        '["shop.orders","1"]': "a"
    }


@pytest.mark.parametrize(
    ("family", "table", "says"),
    [
        ({"timeToLive": 86_400}, {}, "TTL => 86400, info"),
        ({}, {"durability": idl.TDurability.SKIP_WAL}, "DURABILITY => SKIP_WAL"),
    ],
)
def test_a_table_that_would_lose_rows_is_refused(
    settings: HBaseSettings, family: Mapping[str, int], table: Mapping[str, int], says: str
) -> None:
    """An operator made it before the job did, as where jobs may not make tables."""
    with Gateway(settings) as gateway:
        Tables(gateway, settings).ensure("shop.first")  # makes the namespace
        name = idl.TTableName(ns=settings.namespace.encode(), qualifier=b"shop.orders")
        families = [
            idl.TColumnFamilyDescriptor(name=INFO, **family),
            idl.TColumnFamilyDescriptor(name=UPDATE_INFO),
        ]
        gateway.ask(
            "createTable", desc=idl.TTableDescriptor(tableName=name, columns=families, **table)
        )
        with pytest.raises(HBaseRefused, match=says):
            Tables(gateway, settings).ensure("shop.orders")

"""Copies in a real MariaDB, a real MySQL and Parquet files: the rule, types, columns that come, and
what is read back.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

import pymysql
import pytest
from pyspark.sql import SparkSession

from deploy.embedded import SqlServer
from relay.model.message import OutboundMessage
from spark_jobs.apply.apply import Copies
from spark_jobs.errors import CopyBusy, MirrorRefused
from spark_jobs.sinks import commit_lock, live_rows, parquet
from spark_jobs.spark_util.error_translation import named_errors
from tests.support.copies.spark_copies import batch, change, copies, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def place(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> Copies:
    """Copies in a mirror, or in Parquet files: both keep typed columns and the same promises."""
    if request.param == "parquet":
        return copies(spark, tmp_path, sink="parquet")
    server: SqlServer = request.getfixturevalue(request.param)
    return copies(spark, tmp_path, sink="jdbc", mirror=section(server, fresh_name("copy_")))


def section(server: SqlServer, prefix: str) -> dict[str, object]:
    return {
        "host": "127.0.0.1",
        "port": server.port,
        "user": server.admin,
        "password": server.admin,
        "prefix": prefix,
        "patience_seconds": 10,
        "rows_per_statement": 2,
    }


def apply(
    place: Copies, spark: SparkSession, *messages: OutboundMessage, number: int | None = None
) -> tuple[int, int]:
    figures = place.apply(records(spark, messages), "tests", number)
    return figures.winners, figures.replayed


def rows_in(place: Copies) -> dict[str, dict[str, object]]:
    copy = place.sink.read("shop.orders")
    assert copy is not None
    return {row["id"]: row.asDict() for row in live_rows(copy).collect()}


@pytest.mark.parametrize(
    "place", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long), "parquet"], indirect=True
)
def test_the_rule_case_by_case(spark: SparkSession, place: Copies) -> None:
    deleted = [("dead", 20, "gone"), ("tomb", 20, "compacted")]
    apply(
        place,
        spark,
        *batch(
            ("older", 20, "x"), ("newer", 20, "x"), ("equal", 20, "x"), *deleted, ("acb", 100, "A")
        ),
    )
    late = [("older", 19, "late"), ("dead", 19, "late"), ("tomb", 19, "late")]
    second = batch(
        ("none", 1, "new"), *late, ("newer", 21, None), ("equal", 20, "x"), ("acb", 102, "C")
    )
    assert apply(place, spark, *second, number=7) == (4, 0)
    before = rows_in(place)
    assert apply(place, spark, *second, number=7) in {(4, 0), (0, 1)}
    assert rows_in(place) == before
    apply(place, spark, *batch(("acb", 101, "B"), ("newer", 22, "")))
    assert {key: row["n"] for key, row in rows_in(place).items()} == {
        "none": "new",
        "older": "x",
        "newer": "",
        "equal": "x",
        "acb": "C",
    }
    assert place.sink.tables() == ["shop.orders"]
    place.sink.forget_deletes(1_700_000_000_001, "tests")
    copy = place.sink.read("shop.orders")
    assert copy is not None
    assert copy.where("_deleted").count() == 0


@pytest.mark.parametrize(
    "place", [pytest.param("mariadb", marks=pytest.mark.long), "mysql_9", "parquet"], indirect=True
)
def test_typed_columns_widen_and_come_back(spark: SparkSession, place: Copies) -> None:
    types = {
        "id": "int",
        "at": "timestamp(3)",
        "day": "date",
        "price": "decimal(10,2)",
        "raw": "varbinary(9)",
        "a`%s": "double",
    }
    first = {
        "at": "2024-02-29 23:30:00.123",
        "day": "0000-00-00",
        "price": "1.50",
        "raw": "/wA=",
        "a`%s": "0.1",
    }
    apply(place, spark, change("t", "INSERT", "1", 1, types=types, row=first, id="1"))
    later = {**types, "id": "bigint", "price": "decimal(12,4)", "added": "text"}
    apply(
        place,
        spark,
        change(
            "t",
            "INSERT",
            "2",
            2,
            types=later,
            row={**first, "day": None},
            id="5000000000",
            added="é 🙂 ' \\ %s",
        ),
    )
    copy = place.sink.read("shop.orders")
    assert copy is not None
    assert [copy.schema[name].dataType.simpleString() for name in ("id", "at", "price", "raw")] == [
        "bigint",
        "timestamp",
        "decimal(12,4)",
        "binary",
    ]
    one, two = copy.orderBy("_order").collect()
    assert (one["id"], one["price"], bytes(one["raw"]), one["a`%s"], one["added"]) == (
        1,
        Decimal("1.5"),
        b"\xff\0",
        0.1,
        None,
    )
    assert (one["day"], one["_unfit"]) == (None, {"day": "0000-00-00"})
    assert (two["id"], two["added"], two["_unfit"]) == (5_000_000_000, "é 🙂 ' \\ %s", None)
    moment = copy.selectExpr("unix_millis(at)").distinct().collect()
    assert [row[0] for row in moment] == [
        int(datetime(2024, 2, 29, 23, 30, 0, 123_000, UTC).timestamp() * 1000)
    ]


@pytest.mark.parametrize("server", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_a_mirror_that_refuses_the_login_is_named(
    server: str, request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> None:
    mirror = section(request.getfixturevalue(server), "x_")
    refused = copies(
        spark, tmp_path, sink="jdbc", mirror={**mirror, "user": "nobody", "password": "wrong"}
    )
    with pytest.raises(MirrorRefused, match="Access denied"):
        apply(refused, spark, *batch(("1", 1, "a")))


@pytest.mark.parametrize("server", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_a_unique_index_of_somebody_else_takes_no_row_away(
    server: str,
    request: pytest.FixtureRequest,
    spark: SparkSession,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    """A deleted row keeps its values, so the next row of the same value would be written over it,
    under the deleted one's key.
    """
    sql, prefix = request.getfixturevalue(server), fresh_name("copy_")
    place = copies(spark, tmp_path, sink="jdbc", mirror=section(sql, prefix))
    apply(place, spark, *batch(("1", 1, "ann@example.org")))
    login = {"host": "127.0.0.1", "port": sql.port, "user": sql.admin, "password": sql.admin}
    with closing(pymysql.connect(**login)) as operator, operator.cursor() as cursor:
        cursor.execute(f"ALTER TABLE `{prefix}shop`.orders MODIFY n VARCHAR(50), ADD UNIQUE (n)")
    apply(place, spark, change("t", "DELETE", "1", 2, id="1", n="ann@example.org"))
    with pytest.raises(MirrorRefused, match=r"orders. has a UNIQUE index"), named_errors("tests"):
        apply(place, spark, *batch(("2", 3, "ann@example.org")))
    assert rows_in(place) == {}


def test_two_writers_of_files_take_turns(spark: SparkSession, tmp_path: Path) -> None:
    """As when a first copy runs beside the stream: each version is made of the one before it, or
    one writer's rows are gone.
    """

    def write(parity: int) -> None:
        session = spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "1")
        for key in range(parity, 4, 2):
            copies(session, tmp_path, sink="parquet").apply(
                records(session, batch((str(key), key + 1, "x"))), f"writer {parity}"
            )

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(write, parity) for parity in (0, 1)]:
            each.result()
    assert sorted(rows_in(copies(spark, tmp_path, sink="parquet"))) == ["0", "1", "2", "3"]


def test_a_killed_writer_of_files_has_its_turn_again_and_no_other_has(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = copies(spark, tmp_path, sink="parquet")
    apply(place, spark, *batch(("1", 1, "a")))
    (tmp_path / "shop" / "orders" / "_writer").write_text("tests", encoding="utf-8")
    apply(place, spark, *batch(("2", 2, "b")))
    with patch.object(parquet, "turn", wraps=commit_lock.turn) as taken:
        place.sink.forget_deletes(0, "tests")
    assert [call.args[2] for call in taken.call_args_list] == [
        "tests"
    ]  # upkeep has the turn of the batch before it
    (tmp_path / "shop" / "orders" / "_writer").write_text("bootstrap", encoding="utf-8")
    monkeypatch.setattr(commit_lock, "_PATIENCE_S", 0)
    with pytest.raises(
        CopyBusy, match=r"orders/_writer, the job bootstrap is writing this copy\. Wait for the end"
    ):
        apply(place, spark, *batch(("3", 3, "c")))
    assert sorted(rows_in(place)) == ["1", "2"]

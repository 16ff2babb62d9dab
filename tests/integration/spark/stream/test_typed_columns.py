"""Columns of a copy have the types of the table: nothing is lost on the way, and the driver's zone
does not matter.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyspark.sql.functions as sf
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import BinaryType

from spark_jobs.sinks import DeltaSink
from spark_jobs.transforms import spark_type
from tests.support.copies.spark_copies import apply, change

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

TYPES = {
    "id": "bigint unsigned", "price": "decimal(10,2)", "huge": "decimal(65,30)",
    "small": "tinyint(1)", "ratio": "float", "day": "date",
    "local": "datetime(6)", "moment": "timestamp(3)", "span": "time", "raw": "varbinary(8)",
    "state": "enum('a','b')", "made": "year",
}  # fmt: skip
FULL = {
    "id": "18446744073709551615", "price": "-12345678.90", "huge": "9" * 35 + "." + "1" * 30,
    "small": "-1", "ratio": "0.1",
    "day": "2024-02-29", "local": "2024-06-30 23:59:59.123456", "moment": "2024-03-31 02:30:00.500",
    "span": "-838:59:59",
    "raw": "AP9hAA==", "state": "b", "made": "1901",
}  # fmt: skip
UNFIT = {
    **dict.fromkeys(TYPES),
    "id": "1",
    "day": "0000-00-00",
    "local": "2024-00-01 00:00:00",
    "raw": "AA==",
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Row]:
    """The copy of two rows, written by a driver that lives in another zone."""
    root: Path = tmp_path_factory.mktemp("copies")
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone == "UTC"
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        apply(
            spark,
            root,
            *(change("t", "INSERT", row["id"], 1, row=row, types=TYPES) for row in (FULL, UNFIT)),
        )
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    copy = DeltaSink(spark, root).read("shop.orders")
    assert copy is not None
    moments = copy.selectExpr("*", "cast(moment as double) as epoch_seconds")
    return {int(row["id"]): row for row in moments.collect()}


def test_every_value_is_there_with_its_type(rows: dict[int, Row]) -> None:
    row = rows[18446744073709551615].asDict()
    expected = {
        "id": Decimal("18446744073709551615"),
        "price": Decimal("-12345678.90"),
        "huge": FULL["huge"],
        "small": -1,
        "day": date(2024, 2, 29),
        "local": datetime(2024, 6, 30, 23, 59, 59, 123456),  # noqa: DTZ001 - a DATETIME has no zone
        "span": "-838:59:59",
        "raw": bytearray(b"\x00\xffa\x00"),
        "state": "b",
        "made": 1901,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["ratio"] == pytest.approx(0.1)
    assert row["_unfit"] is None


def test_a_timestamp_is_the_same_instant_whatever_the_drivers_zone(rows: dict[int, Row]) -> None:
    assert (
        rows[18446744073709551615]["epoch_seconds"]
        == datetime(2024, 3, 31, 2, 30, 0, 500_000, UTC).timestamp()
    )


def test_what_a_type_cannot_hold_stays_as_text_beside_it(rows: dict[int, Row]) -> None:
    row = rows[1]
    assert (row["day"], row["local"], row["raw"], row["price"]) == (
        None,
        None,
        bytearray(b"\x00"),
        None,
    )
    assert row["_unfit"] == {"day": "0000-00-00", "local": "2024-00-01 00:00:00"}


def printed(value: Mapping[str, str] | None, kind: str) -> str | None:
    """What the relay prints in its exact style."""
    if value is None:
        return None
    if isinstance(spark_type(kind), BinaryType):
        return b64encode(bytes.fromhex(value["hex"])).decode()
    return value["text"]


def test_every_value_of_a_server_is_there_as_value_or_as_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    """All tables of the type zoo in one batch.

    Whole numbers, decimals and texts are what they were.
    """
    golden = Path(__file__).parents[3] / "golden" / "truth.mysql.jsonl"
    messages, expected = [], {}
    for document in map(json.loads, golden.read_text(encoding="utf-8").strip().split("\n")):
        types = {name: column["type"] for name, column in document["columns"].items()}
        for number, row in enumerate(document["rows"]):
            texts = {name: printed(value, types[name]) for name, value in row.items()}
            expected[f"shop.{document['table']}", str(number)] = (texts, types)
    for order, ((table, key), (texts, types)) in enumerate(expected.items(), 1):
        messages.append(
            change(
                "t", "INSERT", key, order, table=table.removeprefix("shop."), row=texts, types=types
            )
        )
    assert apply(spark, tmp_path, *messages, merge_threads=2).put_aside == 0
    sink, seen = DeltaSink(spark, tmp_path), 0
    assert sink.tables() == sorted({table for table, _ in expected})
    for table in sink.tables():
        copy = sink.read(table)
        assert copy is not None
        dates = {
            name: sf.col(name).cast("string")
            for name, kind in copy.dtypes
            if kind.startswith(("date", "timestamp"))
        }
        for row in copy.withColumns(dates).collect():  # Python has no year 0
            seen += 1
            texts, types = expected[table, json.loads(row["_key"])[1]]
            for name, text in texts.items():
                lost = (row["_unfit"] or {}).get(name)
                assert (row[name] is None) == (text is None or lost == text), (table, name, text)
                if (
                    isinstance(row[name], str | int | Decimal)
                    and text is not None
                    and name not in dates
                ):
                    assert row[name] == type(row[name])(text), (table, name)
    assert seen == len(expected) > 80

"""Texts that two programs make of one value: the source's SQL, Spark, and the relay must agree."""

import struct

import orjson
import pyspark.sql.functions as sf
import pytest
from pyspark.sql import SparkSession

from relay.encode.texts.server_numbers import double_text as relay_double
from relay.encode.texts.server_numbers import float_text as relay_float
from relay.model.table import TableId
from spark_jobs.apply.table_writer import deletes
from spark_jobs.comparison.server_numbers import double_text, float_text
from spark_jobs.first_copy.stale_keys import unmet
from spark_jobs.origin import Shard, SourceColumn, key_text
from spark_jobs.origin.shards import LogicalTable

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
DOUBLES = [
    0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 2 / 3, 1e15, 1e16, 123456789012345.0, 1234567890123456.0, 12345678901234567.0, 1e-14, 1e-15, 1e-16,  # noqa: E501
    1.7976931348623157e308, 2.2250738585072014e-308, 2.0**-44, 100.0, 1e22, 1e23, 9007199254740993.0, 0.30000000000000004,  # noqa: E501
]  # fmt: skip
TEXTS = [
    "",
    "plain",
    'quo"te',
    "back\\slash",
    "\\u000B",
    "é€😀",
    "a/b",
    "".join(map(chr, range(0x20))),
    "\x7f\x80",
    "line\u2028end",
]


def test_floating_point_numbers_print_as_the_relay_prints_them(spark: SparkSession) -> None:
    singles = [
        struct.unpack("f", struct.pack("f", value))[0] for value in DOUBLES if abs(value) < 3e38
    ]
    rows = spark.createDataFrame(
        [(value, None) for value in DOUBLES] + [(None, value) for value in singles],
        "d double, f float",
    )
    found = rows.select(
        "d", "f", double_text(sf.col("d")).alias("dt"), float_text(sf.col("f")).alias("ft")
    ).collect()
    assert [row["dt"] for row in found[: len(DOUBLES)]] == [
        relay_double(value) for value in DOUBLES
    ]
    assert [row["ft"] for row in found[len(DOUBLES) :]] == [relay_float(value) for value in singles]


@pytest.mark.parametrize("shard_in_key", [False, True])
def test_message_keys_are_the_relays(spark: SparkSession, shard_in_key: bool) -> None:
    columns = (SourceColumn("a", "varchar", "varchar(99)"), SourceColumn("b", "int", "int"))
    shard = Shard("shop", TableId("real", "t"), "shop.é", columns, ("a", "b"), shard_in_key)
    rows = spark.createDataFrame([(text, "7") for text in TEXTS], "a string, b string")
    found = rows.select("a", key_text(shard, [sf.col("a"), sf.col("b")]).alias("key"))
    names = ["shop.é", "real.t"] if shard_in_key else ["shop.é"]
    assert {row["a"]: row["key"] for row in found.collect()} == {
        text: orjson.dumps([*names, text, "7"]).decode() for text in TEXTS
    }
    gone = deletes(
        found.withColumn("order", sf.lit("0000000000001.0000000000000000002")),
        LogicalTable("shop.é", (shard,)),
    )
    assert sorted((row["data"]["a"], row["data"]["b"]) for row in gone.collect()) == sorted(
        (text, "7") for text in TEXTS
    )


def order(number: int) -> str:
    return f"0000000000001.{number:019d}"


@pytest.mark.parametrize(
    ("pairs", "after", "found"),
    [
        ({"one": 10}, {"one": 20}, {"5": ("remove", 10), "10": ("remove", 10)}),
        ({"one": 10, "two": 30}, {"one": 20, "two": 40}, {
            "5": ("remove", 10), "10": ("remove", 10), "15": ("undecided", 30),
            "25": ("remove", 30),
        }),
        ({"one": 10, "two": 30}, {"one": 10, "two": 30}, {
            "5": ("remove", 10), "10": ("remove", 10), "15": ("remove", 30), "25": ("remove", 30),
        }),
    ],
    ids=["one instance", "two that publish meanwhile", "two that rest"],
)  # fmt: skip
def test_a_key_that_no_source_has_is_removed_as_far_as_its_order_allows(
    spark: SparkSession,
    pairs: dict[str, int],
    after: dict[str, int],
    found: dict[str, tuple[str, int]],
) -> None:
    rows = [(str(number), order(number), False) for number in (5, 10, 15, 25, 35, 45)]
    copy = spark.createDataFrame(
        [*rows, ("met", order(5), False), ("dead", order(5), True)],
        "_key string, _order string, _deleted boolean",
    )
    met = spark.createDataFrame([("met",)], "key string")
    ordered = {name: order(number) for name, number in pairs.items()}
    gone = unmet(
        copy, met, ordered, {name: order(number) for name, number in after.items()}
    ).collect()
    assert {row["key"]: (row["verdict"], row["order"]) for row in gone} == {
        key: (verdict, order(n)) for key, (verdict, n) in found.items()
    }

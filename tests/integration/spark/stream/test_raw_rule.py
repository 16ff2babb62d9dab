"""The raw rule (es, then binlog offset): what Canal's own messages have, and why the order pair
exists.
"""

import json
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.errors import RawRuleRefused
from spark_jobs.sinks import DeltaSink
from tests.support.copies.spark_copies import apply, change, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def at(key: str, order: int, es: int, offset: int, n: str) -> OutboundMessage:
    """A change as the relay sends it with headers = "full"."""
    return change(
        "t",
        "UPDATE",
        key,
        order,
        fields={"es": es},
        source=f"1:binlog.000001:{offset}",
        id=key,
        n=n,
    )


CHANGES = (
    # Waited for a lock: it began before the other and committed after it. Its es is older, its
    # place in the binlog and its order are newer.
    at("lock", 1, 1_700_000_009_000, 400, "first"),
    at("lock", 2, 1_700_000_001_000, 500, "last"),
    # A new binlog file begins with small offsets.
    at("file", 3, 1_700_000_010_000, 900_000, "first"),
    at("file", 4, 1_700_000_010_000, 120, "last"),
    # Two rows of one event share time and offset: the one that comes later is applied.
    at("event", 5, 1_700_000_011_000, 200, "first"),
    at("event", 6, 1_700_000_011_000, 200, "last"),
)


def test_the_documented_anomalies_show(spark: SparkSession, tmp_path: Path) -> None:
    for batch in (CHANGES[:5], CHANGES[5:]):
        apply(spark, tmp_path / "raw", *batch, raw_rule=True)
    apply(spark, tmp_path / "pair", *CHANGES)
    assert {key: row["n"] for key, row in copy_of(spark, tmp_path / "raw").items()} == {
        "lock": "first",
        "file": "first",
        "event": "last",
    }
    assert {
        key: row["n"] for key, row in copy_of(spark, tmp_path / "pair").items()
    } == dict.fromkeys(("lock", "file", "event"), "last")


def test_without_source_headers_it_refuses_and_writes_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    plain = change("t", "INSERT", "1", 1, fields={"es": 1_700_000_000_000}, id="1")
    with pytest.raises(
        RawRuleRefused,
        match=(
            r"^1 messages cannot be ordered: the raw rule needs the source header.*headers = "
            r"\"full\""
        ),
    ):
        apply(spark, tmp_path, CHANGES[0], plain, raw_rule=True)
    assert DeltaSink(spark, tmp_path).tables() == []


def canal(
    kind: str, rows: list[dict[str, str]], es: int, old: list[dict[str, str]] | None = None
) -> OutboundMessage:
    """A message as Canal itself writes it: several rows, no key, no headers."""
    types = {"id": "INT(11)", "raw": "BLOB", "n": "VARCHAR(9)"}
    value = {
        "data": rows, "database": "shop", "es": es, "id": 1, "isDdl": False, "mysqlType": types,
        "old": old,
        "pkNames": ["id"], "sql": "", "sqlType": {}, "table": "orders", "ts": es, "type": kind,
    }  # fmt: skip
    return OutboundMessage("t", 0, None, orjson.dumps(value), ())


def test_messages_of_canal_itself_are_taken(spark: SparkSession, tmp_path: Path) -> None:
    inserted = canal(
        "INSERT", [{"id": str(key), "raw": "\x00\xff", "n": "a"} for key in (1, 2, 3)], 1000
    )
    moved = canal("UPDATE", [{"id": "9", "raw": "", "n": "b"}], 1000, [{"id": "2", "n": "a"}])
    deleted = canal("DELETE", [{"id": "3", "raw": "", "n": "a"}], 2000)
    figures = apply(spark, tmp_path, inserted, moved, deleted, raw_rule=True, value_style="canal")
    assert (figures.rows, figures.keys, figures.put_aside) == (5, 4, 0)
    found = {row["id"]: row for row in copy_of(spark, tmp_path).values()}
    assert {key: row["n"] for key, row in found.items()} == {1: "a", 9: "b"}
    assert found[1]["raw"] == b"\x00\xff"


CANAL_TABLES = ("t_int", "t_dec", "t_bin", "t_ts", "t_nopk")


def test_everything_that_canal_recorded_is_taken(spark: SparkSession, tmp_path: Path) -> None:
    """Recorded messages of a real Canal: rows with a key reach their copies, statements and rows
    without a key are named.
    """
    golden = Path(__file__).parents[3] / "golden" / "canal_messages.mysql.jsonl"
    lines = [
        line
        for line in golden.read_text(encoding="utf-8").strip().split("\n")
        if json.loads(line)["table"] in CANAL_TABLES
    ]
    messages = [OutboundMessage("t", 0, None, line.encode(), ()) for line in lines]
    figures = apply(spark, tmp_path, *messages, raw_rule=True, value_style="canal", merge_threads=2)
    assert {reason.partition(",")[0].split(" ", 2)[2] for reason in figures.problems} == {
        "has no key"
    }
    keyed = {
        f"{each['database']}.{each['table']}"
        for each in map(json.loads, lines)
        if each["data"] and each["pkNames"]
    }
    assert DeltaSink(spark, tmp_path).tables() == sorted(keyed)


def test_the_pair_does_not_take_them(spark: SparkSession, tmp_path: Path) -> None:
    figures = apply(
        spark, tmp_path, canal("INSERT", [{"id": "1"}], 1000), replace(CHANGES[0], headers=())
    )
    assert list(figures.problems) == ["the order header is missing or unreadable"]

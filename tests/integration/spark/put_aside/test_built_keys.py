"""Keys that the job builds from values: of packed messages, and of updates that change the key in
one message (`key_change = "canal"`).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from pyspark.sql import SparkSession

from relay.envelope import order_text
from relay.model.message import OutboundMessage
from spark_jobs.sinks import DeltaSink
from spark_jobs.transforms import Reader, parse_events
from spark_jobs.transforms.typed_rows import Style
from tests.support.copies.spark_copies import apply, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
TYPES: Mapping[str, str] = {"id": "varchar(20)", "n": "text"}


def message(
    position: int,
    *rows: Mapping[str, str],
    kind: str = "UPDATE",
    key: Sequence[str] | None = None,
    old: Sequence[Mapping[str, str]] | None = None,
    types: Mapping[str, str] = TYPES,
) -> OutboundMessage:
    """A message with a key, or a packed one without, whose rows have successive orders."""
    value = {
        "data": rows,
        "old": old,
        "database": "shop",
        "table": "orders",
        "type": kind,
        "pkNames": ["id"],
        "mysqlType": types,
    }
    headers = [("order", order_text(1_700_000_000_000, position).encode())]
    if key is None:
        headers.append(("orders", ",".join(str(2 * n) for n in range(len(rows))).encode()))
    text = None if key is None else orjson.dumps(["shop.orders", *key])
    return OutboundMessage("t", 0, text, orjson.dumps(value), tuple(headers))


def live(spark: SparkSession, root: Path) -> dict[str, Any]:
    copy = DeltaSink(spark, root).read("shop.orders")
    return (
        {}
        if copy is None
        else {row["_key"]: row["n"] for row in copy.where("not _deleted").collect()}
    )


def test_the_former_key_names_the_real_table_as_the_message_does(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`key_scope = "shard"`."""
    rows = [
        message(number, {"id": "1", "n": shard}, kind="INSERT", key=[shard, "1"])
        for number, shard in enumerate(("s1.orders", "s2.orders"))
    ]
    changed = message(
        9, {"id": "2", "n": "moved"}, key=["s1.orders", "2"], old=[{"id": "1", "n": "s1.orders"}]
    )
    assert apply(spark, tmp_path, *rows, changed).problems == {}
    assert live(spark, tmp_path) == {
        '["shop.orders","s1.orders","2"]': "moved",
        '["shop.orders","s2.orders","1"]': "s2.orders",
    }


@pytest.mark.parametrize("merge", [False, True])
def test_only_rows_whose_key_changed_leave_a_key(
    spark: SparkSession, tmp_path: Path, *, merge: bool
) -> None:
    """Canal's `old` of later rows has the columns that an earlier row of the event changed."""
    images: dict[str, Any] = {"row_images": "merge"} if merge else {}
    rows = [{"id": key, "n": "a"} for key in "136"]
    apply(spark, tmp_path, message(1, *rows, kind="INSERT"), **images)
    changed = message(
        11,
        {"id": "2", "n": "b"},
        {"id": "3", "n": "b"},
        {"id": "6", "n": "b"},
        old=[{"id": "1", "n": "a"}, {"id": "3", "n": "a"}, {"id": "6", "n": "a"}],
    )
    assert apply(spark, tmp_path, changed, **images).problems == {}
    assert live(spark, tmp_path) == {f'["shop.orders","{key}"]': "b" for key in "236"}


@pytest.mark.parametrize("value", ["\x1f", "\\\x1f", "\\u001F", '"\n\x0b/é\u2028\x7f', "\0\b😀"])
def test_a_built_key_is_the_key_of_a_message(spark: SparkSession, value: str) -> None:
    """Row by row or packed, and by a first copy: the relay's JSON, byte for byte."""
    keyed = message(1, {"id": value}, key=[value])
    moved = message(3, {"id": "next"}, key=["next"], old=[{"id": value}])
    found = parse_events(records(spark, [keyed, message(2, {"id": value}), moved])).collect()
    keys = [row["key"] for row in found[:2]] + [found[2]["moved_from"]["key"]]
    assert keys == [orjson.dumps(["shop.orders", value]).decode()] * 3


def problems_of(spark: SparkSession, style: Style, *read: OutboundMessage) -> list[str | None]:
    """The beginnings of the problems of messages with one row each, as a job reads them."""
    rows = parse_events(records(spark, read), reader=Reader(style)).orderBy("offset").collect()
    return [row["problem"] and row["problem"].partition(",")[0][:77] for row in rows]


def test_canals_values_that_keys_print_otherwise_are_put_aside(spark: SparkSession) -> None:
    """A first copy has their exact text: one row would have two keys."""
    kinds = ("varbinary(9)", "enum('a','b')", "decimal(9,2)", "int(4) unsigned zerofill")
    row = {"id": "1", "n": "a"}
    read = [message(1, row, types={**TYPES, "id": kind}) for kind in (*kinds, "varchar(9)")]
    reason = "table shop.orders has a key that the values of a packed message do not show ("
    assert problems_of(spark, "canal", *read) == [*[reason] * len(kinds), None]


@pytest.mark.parametrize(
    ("style", "kind", "key"),
    [("exact", "float", "2"), ("canal", "varbinary(9)", "Mg=="), ("exact", "varchar(9)", "other")],
)
def test_a_former_key_that_values_do_not_show_is_put_aside(
    spark: SparkSession, style: Style, kind: str, key: str
) -> None:
    """A delete of a wrong key would leave the former row for ever."""
    types = {**TYPES, "id": kind}
    changed = message(9, {"id": "2", "n": "b"}, key=[key], old=[{"id": "1"}], types=types)
    assert problems_of(spark, style, changed) == [
        "table shop.orders had its key changed in one message"
    ]


def test_a_key_with_replaced_bytes_is_not_built(spark: SparkSession, tmp_path: Path) -> None:
    """Keys have the bytes; two such values may have one text."""
    figures = apply(spark, tmp_path, message(1, {"id": "a\ufffd", "n": "a"}))
    assert (figures.winners, figures.put_aside) == (0, 1)

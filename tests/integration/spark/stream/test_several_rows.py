"""Messages that hold more than one row, and updates that change the key in one message."""

from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from relay.envelope import order_text
from relay.model.message import OutboundMessage
from spark_jobs.comparison.waiting import newest_orders
from tests.support.copies.spark_copies import apply, change, copy_of, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def packed(position: int, orders: str, *rows: dict[str, str]) -> OutboundMessage:
    """A message of `rows_per_message = "event"`: no key, each row with its own place in the
    order.
    """
    value = {
        "data": rows,
        "database": "shop",
        "table": "orders",
        "type": "UPDATE",
        "pkNames": ["id"],
        "mysqlType": {"id": "int", "n": "text"},
    }
    headers = (
        ("order", order_text(1_700_000_000_000, position).encode()),
        ("orders", orders.encode()),
    )
    return OutboundMessage("t", 0, None, orjson.dumps(value), headers)


def test_each_row_has_its_own_place_in_the_order(spark: SparkSession, tmp_path: Path) -> None:
    late = change(
        "t",
        "UPDATE",
        "2",
        14,
        types={"id": "int", "n": "text"},
        fields={"pkNames": ["id"]},
        id="2",
        n="between",
    )
    figures = apply(
        spark, tmp_path, packed(10, "0,1,7", *({"id": key, "n": key * 2} for key in "112")), late
    )
    assert (figures.rows, figures.keys, figures.put_aside) == (4, 2, 0)
    assert {row["id"]: row["n"] for row in copy_of(spark, tmp_path).values()} == {1: "11", 2: "22"}


def test_changes_that_wait_are_found_in_messages_of_several_rows(spark: SparkSession) -> None:
    keyed = change("t", "UPDATE", "2", 14, id="2", n="between")
    waiting = records(
        spark, [packed(10, "0,1,7", *({"id": key, "n": key} for key in "112")), keyed]
    )
    found = newest_orders(
        waiting, ['["shop.orders","1"]', '["shop.orders","2"]', '["shop.orders","3"]']
    )
    assert found == {
        f'["shop.orders","{key}"]': order_text(1_700_000_000_000, at)
        for key, at in (("1", 11), ("2", 17))
    }


def test_rows_that_the_orders_do_not_match_are_put_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    figures = apply(
        spark,
        tmp_path,
        packed(10, "0,1,7", {"id": "1", "n": "a"}),
        packed(20, "0,x", {"id": "2", "n": "a"}, {"id": "3", "n": "a"}),
    )
    assert figures.problems == {
        "the orders header does not match the message's rows": 1,
        "the orders header is unreadable": 1,
    }
    assert list(copy_of(spark, tmp_path)) == [2]


def test_an_update_of_the_key_takes_the_old_row_away(spark: SparkSession, tmp_path: Path) -> None:
    types, fields = {"id": "int", "n": "text"}, {"pkNames": ["id"], "old": [{"id": "1"}]}
    first = change("t", "INSERT", "1", 1, types=types, fields={"pkNames": ["id"]}, id="1", n="a")
    apply(
        spark,
        tmp_path,
        first,
        change("t", "UPDATE", "2", 2, types=types, fields=fields, id="2", n="a"),
    )
    assert list(copy_of(spark, tmp_path)) == [2]


def test_partial_row_images_are_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    figures = apply(
        spark,
        tmp_path,
        change("t", "UPDATE", "1", 1, types={"n": "text"}, fields={"pkNames": None}, n="a"),
    )
    assert [reason.partition(",")[0] for reason in figures.problems] == [
        "table shop.orders comes with partial row images"
    ]

"""Which published table an unmapped one resembles by its columns."""

import pytest

from relay.model.names.column_likeness import (
    MOST_STEPS,
    MOST_TABLES,
    NOTHING_ALIKE,
    ColumnLikeness,
    LikeTable,
)
from relay.model.table import Column, ColumnType, TableId, TableMap

ORDERS = TableId("shop", "orders")
COLUMNS = ("id", "buyer", "state", "price", "made")


def table(name: str, *columns: str, unknown: str = "") -> TableMap:
    kind = ColumnType.LONG
    found = tuple(Column(each, kind, nullable=True) for each in columns)
    return TableMap(TableId("shop_01", name), found, unknown=unknown)


@pytest.mark.parametrize("published_first", [True, False])
def test_the_same_columns_are_found_in_either_order(published_first: bool) -> None:
    likeness = ColumnLikeness()
    left_out = table("orders_2027", *(each.upper() for each in reversed(COLUMNS)))
    if published_first:
        likeness.publish(ORDERS, table("orders", *COLUMNS))
    likeness.leave_out(left_out)
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    assert likeness.of(left_out.id) == LikeTable("shop.orders", 5, 5)


def test_nearly_the_same_columns_and_the_best_table_count() -> None:
    likeness = ColumnLikeness()
    left_out = table("archive", *COLUMNS, "archived")
    likeness.leave_out(left_out)
    likeness.publish(TableId("shop", "other"), table("other", *COLUMNS[:4], "x", "archived"))
    assert likeness.of(left_out.id) is NOTHING_ALIKE
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    assert likeness.of(left_out.id) == LikeTable("shop.orders", 5, 6)
    likeness.publish(TableId("shop", "past"), table("past", *COLUMNS, "archived"))
    assert likeness.of(left_out.id) == LikeTable("shop.past", 6, 6)


@pytest.mark.parametrize(
    "left_out",
    [
        table("small", "id", "name"),
        table("unnamed", "", "", "", ""),
        table("unknown", *COLUMNS, unknown="the catalogue has another number of columns"),
        table("half", *COLUMNS[:3]),
    ],
)
def test_small_unnamed_and_other_tables_are_similar_to_none(left_out: TableMap) -> None:
    likeness = ColumnLikeness()
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    likeness.publish(TableId("shop", "tag"), table("tag", "id", "name"))
    likeness.publish(TableId("shop", "raw"), table("raw", "", "", "", ""))
    likeness.leave_out(left_out)
    assert likeness.of(left_out.id) is NOTHING_ALIKE


def test_changed_columns_of_either_table_are_compared_again() -> None:
    likeness = ColumnLikeness()
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    likeness.leave_out(table("copy", *COLUMNS))
    likeness.leave_out(table("copy", "id", "a", "b", "c", "d"))
    assert likeness.of(TableId("shop_01", "copy")) is NOTHING_ALIKE
    likeness.publish(ORDERS, table("orders", "id", "a", "b", "c", "d"))
    assert likeness.of(TableId("shop_01", "copy")).name == "shop.orders"
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    assert likeness.of(TableId("shop_01", "copy")) is NOTHING_ALIKE


def test_the_first_shard_of_a_published_table_counts_until_another_mapping() -> None:
    likeness = ColumnLikeness()
    likeness.publish(ORDERS, table("orders_1", *COLUMNS))
    likeness.publish(ORDERS, table("orders_2", "id", "a", "b", "c", "d"))
    likeness.leave_out(table("copy", *COLUMNS))
    assert likeness.of(TableId("shop_01", "copy")).common == 5
    likeness.clear()
    assert likeness.of(TableId("shop_01", "copy")) is NOTHING_ALIKE


def wide(name: str, number: int) -> TableMap:
    """A table of 500 columns, of which 450 are in all such tables."""
    own = (f"own_{number}_{each}" for each in range(50))
    return table(name, *(f"common_{each}" for each in range(450)), *own)


def test_a_call_takes_a_bounded_number_of_steps_and_finds_equal_tables_anyway() -> None:
    likeness = ColumnLikeness()
    for number in range(300):
        likeness.leave_out(wide(f"copy_{number}", number))
        likeness.publish(TableId("shop", f"t{number}"), wide(f"t{number}", number + 150))
    before = likeness.steps
    likeness.publish(ORDERS, wide("orders", 7))
    assert 0 < likeness.steps - before <= MOST_STEPS + 510
    assert likeness.of(TableId("shop_01", "copy_7")) == LikeTable("shop.orders", 500, 500)
    # All that resembled one table are compared again when its columns change.
    before = likeness.steps
    likeness.publish(ORDERS, wide("orders", 8))
    assert likeness.steps - before <= MOST_STEPS + 510
    assert likeness.of(TableId("shop_01", "copy_8")) == LikeTable("shop.orders", 500, 500)
    assert likeness.of(TableId("shop_01", "copy_7")).name != "shop.orders" or (
        likeness.of(TableId("shop_01", "copy_7")).common == 450
    )


def test_shards_with_equal_columns_are_compared_once() -> None:
    likeness = ColumnLikeness()
    likeness.publish(TableId("shop", "near"), table("near", *COLUMNS, "extra"))
    for number in range(MOST_TABLES):
        likeness.leave_out(table(f"orders_{number}", *COLUMNS))
    assert likeness.steps < 100
    likeness.publish(ORDERS, table("orders", *COLUMNS))
    assert likeness.steps < 100
    last = TableId("shop_01", f"orders_{MOST_TABLES - 1}")
    assert likeness.of(last) == LikeTable("shop.orders", 5, 5)

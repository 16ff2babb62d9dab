"""Which published table an unmapped one resembles by its columns."""

import pytest

from relay.model.names.column_likeness import NOTHING_ALIKE, ColumnLikeness, LikeTable
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

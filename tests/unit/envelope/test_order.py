"""The order header sorts as text as the changes happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.envelope import (
    FIELDS,
    ORDER_WIDTH,
    MessageType,
    order_of,
    order_text,
    orders_text,
    parse_order,
    row_orders,
    value_schema,
)

PAIRS = st.tuples(st.integers(0, 10**13 - 1), st.integers(0, 2**63 - 1))


@given(PAIRS, PAIRS)
def test_text_sorts_as_the_pairs_do(left: tuple[int, int], right: tuple[int, int]) -> None:
    assert (order_text(*left) < order_text(*right)) == (left < right)


@given(PAIRS)
def test_text_can_be_read_back(pair: tuple[int, int]) -> None:
    text = order_text(*pair)
    assert len(text) == ORDER_WIDTH
    assert parse_order(text) == parse_order(text.encode()) == pair


@pytest.mark.parametrize(
    "text",
    ["", "1.2", "0000000000001.9999999999999999999", "x" * 33, "\u0660" * 13 + "." + "0" * 19],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an order"):
        parse_order(text)


@pytest.mark.parametrize("pair", [(-1, 0), (10**13, 0), (0, -1), (0, 2**63)])
def test_pairs_that_do_not_fit_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        order_text(*pair)


def test_the_schema_names_the_same_fields_and_types() -> None:
    schema = value_schema()
    assert tuple(schema["properties"]) == FIELDS == tuple(sorted(FIELDS))
    assert set(schema["properties"]["type"]["enum"]) == set(MessageType)


@given(
    st.integers(0, 10**13 - 1),
    st.lists(st.integers(0, 2**63 - 1), min_size=1, unique=True).map(sorted),
)
def test_the_orders_of_several_rows_can_be_read_back(time_ms: int, positions: list[int]) -> None:
    expected = [(time_ms, position) for position in positions]
    assert row_orders(order_text(time_ms, positions[0]), orders_text(positions)) == expected
    assert (
        row_orders(order_text(time_ms, positions[0]).encode(), orders_text(positions).encode())
        == expected
    )


def test_without_orders_there_is_one_row() -> None:
    assert row_orders(order_text(5, 7), None) == [(5, 7)]


@pytest.mark.parametrize(
    "orders", ["", "1", "0,", "0,0", "0,2,1", "0,01", "0,-1", f"0,{2**63}", "0,\u0661"]
)
def test_other_orders_are_refused(orders: str) -> None:
    with pytest.raises(ValueError, match="not an orders header"):
        row_orders(order_text(5, 7), orders)


@pytest.mark.parametrize("positions", [[], [2, 2], [3, 2]])
def test_positions_that_do_not_rise_are_refused(positions: list[int]) -> None:
    with pytest.raises(ValueError, match="rise"):
        orders_text(positions)


def test_the_order_of_a_record_is_its_first_order_header() -> None:
    order = order_text(7, 8).encode()
    later = order_text(7, 9).encode()
    assert order_of([("tag", b"a"), ("order", order), ("order", later)]) == (7, 8)
    assert order_of([("order", b"7.8"), ("order", later)]) is None
    assert order_of([("tag", order)]) is None

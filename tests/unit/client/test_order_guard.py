"""For each key only a greater order is new."""

from hypothesis import given
from hypothesis import strategies as st

from roma_client.records.change import Order
from roma_client.records.order_guard import OrderGuard

AT = ("shop", 0)
CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)))


@given(CHANGES)
def test_what_passes_rises_for_each_key_and_ends_with_the_newest(
    changes: list[tuple[str, int]],
) -> None:
    guard = OrderGuard()
    passed = [
        (key, position) for key, position in changes if guard.is_new(AT, key, Order(1000, position))
    ]
    for each in "abc":
        orders = [position for key, position in passed if key == each]
        given_orders = [position for key, position in changes if key == each]
        assert orders == sorted(set(orders))
        assert not given_orders or orders[-1] == max(given_orders)
    assert guard.dropped == len(changes) - len(passed)


def test_a_forgotten_partition_is_delivered_again_and_others_are_not() -> None:
    guard, other = OrderGuard(), ("shop", 1)
    assert guard.is_new(AT, "a", Order(1, 1))
    assert guard.is_new(other, "b", Order(1, 2))
    guard.forget(AT)
    assert guard.is_new(AT, "a", Order(1, 1))
    assert not guard.is_new(other, "b", Order(1, 2))


def test_memory_is_bounded_by_forgetting_the_key_that_changed_longest_ago() -> None:
    guard = OrderGuard(keys=2)
    for position, key in enumerate("abc"):
        assert guard.is_new(AT, key, Order(1, position))
    assert guard.is_new(AT, "a", Order(1, 0))
    assert not guard.is_new(AT, "c", Order(1, 2))

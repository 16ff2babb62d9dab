"""An order pair that is raised lies below neither of the two that it came from."""

from hypothesis import given
from hypothesis import strategies as st

from relay.model.positions.position import OrderPair

pairs = st.builds(OrderPair, st.integers(0, 2**42), st.integers(0, 2**63 - 1))


@given(pairs, pairs)
def test_the_least_pair_that_lies_below_neither(one: OrderPair, other: OrderPair) -> None:
    raised = one.raised_to(other)
    assert all(
        half in halves and half == max(halves)
        for half, halves in zip(raised, zip(one, other, strict=True), strict=True)
    )
    assert raised == other.raised_to(one) == raised.raised_to(one)

"""Over any time no more is taken than allowed, a burst and the last step apart.

And nobody waits without need.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.pipeline.delivery.rate_limiter import BURST_SECONDS, Paid, Rates


@pytest.mark.parametrize(
    ("rates", "rows", "size_bytes", "wait_s"),
    [
        (Rates(), 10_000, 10_000_000, 0.0),
        (Rates(rows=100), 100, 10_000_000, 0.0),
        (Rates(rows=100), 300, 0, 2.0),
        (Rates(bytes=1000), 300, 3500, 2.5),
        (Rates(rows=100, bytes=1000), 300, 3500, 2.5),
        (Rates(rows=100, bytes=1000), 500, 3500, 4.0),
    ],
)
def test_the_tighter_limit_says_how_long(
    rates: Rates, rows: int, size_bytes: int, wait_s: float
) -> None:
    now_s = 1000.0
    assert Paid().with_taken(rates, rows, size_bytes, now_s).wait_seconds(
        rates, now_s
    ) == pytest.approx(wait_s)


def test_a_limit_that_was_lifted_holds_nobody_up() -> None:
    paid = Paid().with_taken(Rates(rows=1), 1000, 0, 10.0)
    assert paid.wait_seconds(Rates(rows=1), 10.0) > 900
    assert paid.wait_seconds(Rates(), 10.0) == 0


@given(
    rate=st.integers(1, 10_000),
    steps=st.lists(st.tuples(st.integers(0, 5000), st.floats(0, 3)), min_size=1, max_size=40),
)
def test_what_is_taken_stays_within_what_is_allowed(
    rate: int, steps: list[tuple[int, float]]
) -> None:
    rates, paid, now_s, taken = Rates(rows=rate), Paid(), 100.0, 0
    for rows, idle_s in steps:
        now_s += idle_s + paid.wait_seconds(rates, now_s + idle_s)
        assert taken <= rate * (now_s - 100.0 + BURST_SECONDS) + 1e-3 * rate
        paid = paid.with_taken(rates, rows, 0, now_s)
        taken += rows

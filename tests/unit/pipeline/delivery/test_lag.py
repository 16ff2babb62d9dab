"""Lag: nought while nothing waits, growing while anything stands still, and never negative."""

from hypothesis import given
from hypothesis import strategies as st

from relay.pipeline.delivery.lag import HEARTBEATS_FRESH, Reached, lag_seconds

TIMES = st.floats(0, 4e9, allow_nan=False)
MAYBE = st.none() | TIMES
HEARTBEAT_S = 1.0
RUNNING_S = 1000.0
"""Of the monotonic clock; it says what the wall clock says where a test does not set that one
back.
"""


def test_of_an_instance_that_never_published_nothing_is_known() -> None:
    assert lag_seconds(Reached(), 1000, RUNNING_S, HEARTBEAT_S) is None


def test_an_idle_source_is_not_behind_however_old_its_last_change() -> None:
    reached = Reached().with_change(10).with_idle(999)
    assert lag_seconds(reached, 1000, RUNNING_S, HEARTBEAT_S) == 0


def test_without_heartbeats_it_counts_from_the_newest_change_or_the_last_idle_moment() -> None:
    reached = Reached().with_change(10).with_idle(900)
    assert lag_seconds(reached, 1000, RUNNING_S, HEARTBEAT_S) == 100
    assert lag_seconds(reached.with_change(950), 1000, RUNNING_S, HEARTBEAT_S) == 50
    assert lag_seconds(Reached(change_s=10), 1000, RUNNING_S, HEARTBEAT_S) == 990


def test_a_change_that_a_session_dated_back_takes_nothing_back() -> None:
    assert Reached().with_change(500).with_change(10) == Reached(change_s=500)


def test_a_clock_that_is_set_back_does_not_make_a_stuck_instance_look_idle() -> None:
    reached = Reached().with_change(100_000).with_idle(500)
    assert lag_seconds(reached, 100_400, 900, HEARTBEAT_S) == 400
    assert lag_seconds(reached, 100_400 - 3600, 900, HEARTBEAT_S) == 0, (
        "nothing better is known of the change"
    )
    assert lag_seconds(Reached().with_idle(500), 100_400 - 3600, 900, HEARTBEAT_S) == 400


def test_a_longer_heartbeat_stays_fresh_for_longer() -> None:
    reached = Reached(idle_s=100)
    assert lag_seconds(reached, 115, 115, 10) == 0
    assert lag_seconds(reached, 9_000, 100 + HEARTBEATS_FRESH * 10 + 1, 10) == 21


@given(MAYBE, MAYBE, TIMES, st.floats(0.1, 3600))
def test_while_nothing_happens_it_grows_with_the_clock(
    change_s: float | None, idle_s: float | None, now_s: float, heartbeat_s: float
) -> None:
    reached = Reached(change_s, idle_s)
    first, later = (lag_seconds(reached, each, each, heartbeat_s) for each in (now_s, now_s + 60))
    if change_s is None and idle_s is None:
        assert first is later is None
    else:
        assert first is not None
        assert later is not None
        assert 0 <= first <= later

"""A streak counts failures that follow one another, and ends after a quiet time."""

from hypothesis import given
from hypothesis import strategies as st

from relay.failure_streak import Streak, StreakRule

RULE = StreakRule(first_s=0.2, longest_s=1.0, forgotten_after_s=60)


def test_a_streak_counts_and_ends() -> None:
    streak = Streak()
    seen = [
        (streak := RULE.after_failure(streak, now_s)).in_a_row
        for now_s in (100.0, 100.0, 159.9, 219.9, 220.0)
    ]
    assert seen == [1, 2, 3, 1, 2]


@given(st.lists(st.floats(0, 100), min_size=1))
def test_pauses_stay_within_their_bounds_and_shrink_only_where_a_streak_begins(
    gaps_s: list[float],
) -> None:
    now_s, streak = 0.0, Streak()
    for gap_s in gaps_s:
        now_s += gap_s
        former, streak = streak, RULE.after_failure(streak, now_s)
        assert RULE.first_s <= streak.pause_s <= RULE.longest_s
        assert streak.in_a_row == 1 or streak.pause_s >= former.pause_s
        assert (streak.in_a_row == 1) is (
            not former.in_a_row or now_s - former.failed_at_s >= RULE.forgotten_after_s
        )

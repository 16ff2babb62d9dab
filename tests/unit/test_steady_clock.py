"""Time passes although an administrator sets the clock back."""

from hypothesis import given
from hypothesis import strategies as st

from relay.steady_clock import SteadyClock


def test_it_runs_on_while_the_clock_is_set_back_and_follows_it_forward() -> None:
    wall_s, running_s = 5000.0, 10.0
    clock = SteadyClock(lambda: wall_s, lambda: running_s)
    assert clock.now_ms() == 5_000_000
    wall_s, running_s = wall_s - 3600 + 2, running_s + 2
    assert clock.now_ms() == 5_002_000
    wall_s, running_s = wall_s + 1, running_s + 1
    assert clock.now_ms() == 5_003_000
    wall_s, running_s = 9000.0, running_s + 1
    assert clock.now_ms() == 9_000_000


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(-10_000, 10_000))))
def test_it_never_goes_back_and_never_stands_still_for_longer_than_it_must(
    steps: list[tuple[int, int]],
) -> None:
    wall_s, running_s = 1_000_000, 0
    clock = SteadyClock(lambda: wall_s, lambda: running_s)
    before_ms = clock.now_ms()
    for passed_s, set_by_s in steps:
        wall_s, running_s = wall_s + passed_s + set_by_s, running_s + passed_s
        now_ms = clock.now_ms()
        assert now_ms - before_ms >= passed_s * 1000
        assert now_ms >= wall_s * 1000
        before_ms = now_ms

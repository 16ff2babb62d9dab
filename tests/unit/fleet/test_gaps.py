"""The longest time for which an instance of a fleet has no leader."""

from tools.fleet.gaps import Gaps


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def observed(gaps: Gaps, clock: Clock, *steps: tuple[float, set[str]]) -> float:
    """Observe leaders at these times; return the longest time without one."""
    for clock.now_s, led in steps:
        gaps.observe(led)
    return gaps.longest_s


def test_the_longest_gap_of_any_instance_counts() -> None:
    clock = Clock()
    gaps = Gaps({"a", "b"}, clock)
    assert observed(gaps, clock, (0, {"a", "b"}), (1, {"b"}), (3, {"a"}), (4, {"a", "b"})) == 2.0


def test_a_gap_that_has_not_ended_counts_up_to_the_last_observation() -> None:
    clock = Clock()
    gaps = Gaps({"a"}, clock)
    assert observed(gaps, clock, (0, {"a"}), (1, set()), (6, set())) == 5.0


def test_a_new_act_forgets_the_gaps_that_ended_before() -> None:
    clock = Clock()
    gaps = Gaps({"a"}, clock)
    observed(gaps, clock, (0, set()), (9, {"a"}))
    gaps.begin()
    assert observed(gaps, clock, (10, set()), (11, {"a"})) == 1.0


def test_each_was_led_although_never_all_at_the_same_time() -> None:
    clock = Clock()
    gaps = Gaps({"a", "b"}, clock)
    observed(gaps, clock, (0, {"a", "b"}))
    gaps.begin_step()
    assert not gaps.each_was_led
    observed(gaps, clock, (1, {"a"}))
    assert not gaps.each_was_led
    observed(gaps, clock, (2, {"b"}))
    assert gaps.each_was_led

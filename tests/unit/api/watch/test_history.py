"""What the watch keeps of one instance."""

import tracemalloc
from typing import Any

import pytest

from api.services.watch.history import SPANS, InstanceHistory
from tests.unit.api.watch.instances import view_of

START_MS = 1_767_225_600_000
LIMIT_S = 60.0


def test_lag_and_rate_are_kept_and_a_silence_is_a_gap() -> None:
    history = InstanceHistory()
    for second in (0, 5, 10, 60, 65):
        at = START_MS + second * 1000
        history.add(
            view_of(updated_ms=at, published_rows=second * 100, lag_seconds=0.5), at, LIMIT_S
        )
    now = START_MS + 65_000
    rows = history.series("rows", SPANS["1h"], now, 720).values
    lag = history.series("lag", SPANS["1h"], now, 720).values
    assert rows[-14:] == [None, 100.0, 100.0, *[None] * 10, 100.0]
    assert lag[-14:] == [0.5, 0.5, 0.5, *[None] * 9, 0.5, 0.5]


def test_a_series_begins_where_its_first_step_begins() -> None:
    history = InstanceHistory()
    history.add(view_of(lag_seconds=2.0), START_MS, LIMIT_S)
    for span in SPANS.values():
        series = history.series("lag", span, START_MS)
        assert len(series.values) == span.points
        assert series.step_s * span.points == span.seconds
        assert series.values[-1] == 2.0
        assert START_MS - span.seconds * 1000 < series.from_ms <= START_MS


def test_a_relay_that_is_gone_gives_neither_lag_nor_rate() -> None:
    history = InstanceHistory()
    history.add(view_of(updated_ms=1, lag_seconds=1.0), START_MS, LIMIT_S)
    facts = history.add(
        view_of(updated_ms=1, lag_seconds=1.0, relay_alive=False), START_MS + 5000, LIMIT_S
    )
    assert (facts.period.state, facts.rate, facts.period.exact) == ("STANDBY", None, True)
    assert history.series("lag", SPANS["1h"], START_MS + 5000, 720).values[-1] is None


def test_changes_of_state_are_kept_with_their_reasons() -> None:
    history = InstanceHistory()
    seen = [(0, "RUNNING", ""), (5, "RUNNING", ""), (10, "WAITING", "A"), (15, "WAITING", "B")]
    for second, state, code in seen:
        history.add(view_of(state=state, code=code), START_MS + second * 1000, LIMIT_S)
    periods = history.periods(START_MS)
    assert [(each.since_ms - START_MS, each.state, each.code) for each in periods] == [
        (0, "RUNNING", ""),
        (10_000, "WAITING", "A"),
        (15_000, "WAITING", "B"),
    ]
    assert [each.exact for each in periods] == [False, True, True]
    assert [each.state for each in history.periods(START_MS + 12_000)] == ["WAITING", "WAITING"]


def test_a_time_without_readings_is_a_period_of_its_own() -> None:
    history = InstanceHistory()
    history.add(view_of(), START_MS, LIMIT_S)
    facts = history.add(view_of(), START_MS + 60_000, LIMIT_S)
    assert [each.state for each in history.periods(0)] == ["RUNNING", "", "RUNNING"]
    assert facts.period.exact is False


def test_conditions_hold_since_their_first_reading() -> None:
    history = InstanceHistory()
    bad: dict[str, Any] = {
        "lag_seconds": 61.0,
        "mapping_problem": "It contradicts itself.",
        "spool": "full",
    }
    for second, more in ((0, bad), (5, bad), (10, {})):
        facts = history.add(view_of(**more), START_MS + second * 1000, LIMIT_S)
        since = None if second == 10 else START_MS
        assert (facts.lag_since_ms, facts.mapping_since_ms, facts.spool_since_ms) == (since,) * 3


@pytest.mark.parametrize(
    ("counts", "letters"), [((0, 0), 0), ((2, 2), 2), ((2, 5), 5), ((5, 1), 6), ((0, 3), 3)]
)
def test_dead_letters_are_counted_over_restarts(counts: tuple[int, int], letters: int) -> None:
    history = InstanceHistory()
    for at, count in enumerate(counts):
        facts = history.add(view_of(dead_letters=count), START_MS + at * 5000, LIMIT_S)
    assert facts.letters == letters
    assert (facts.letters_ms is None) == (letters == 0)


def test_500_instances_take_less_than_50_mb() -> None:
    tracemalloc.start()
    histories = [InstanceHistory() for _ in range(500)]
    for at in range(400):
        state = "RUNNING" if at % 2 else "WAITING"
        histories[0].add(view_of(state=state, reason=f"{at}" * 100), at * 5000, LIMIT_S)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 50_000_000
    assert len(histories[0].periods(0)) == 200

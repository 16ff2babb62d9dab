"""Charts and timelines: what is drawn of values and states."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.models.watch.series import StatesView, StateView
from api.web import words
from api.web.views.figures.chart import BOTTOM, LEFT, RIGHT, TOP, chart
from api.web.views.figures.timeline import WIDTH, timeline

FROM = 1_767_225_600_000
VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1e9)), min_size=1, max_size=60)


@given(VALUES)
@example([5e-324])
def test_every_point_is_inside_the_axes(values: list[float | None]) -> None:
    drawn = chart("Rows", values, FROM, 30, words.number)
    for x, y in re.findall(r"([\d.]+) ([\d.]+)", drawn.line):
        assert LEFT <= float(x) <= RIGHT
        assert TOP - 0.1 <= float(y) <= BOTTOM
    assert len(drawn.levels) == 4
    assert drawn.times[0].anchor == "start"


def test_a_gap_interrupts_line_and_area() -> None:
    drawn = chart("Rows", [0.0, 30.0, None, 30.0, 15.0], FROM, 30, words.number)
    assert drawn.line.count("M") == drawn.area.count("M") == 2
    assert (drawn.now, drawn.mean, drawn.peak) == ("15", "19", "30")
    assert [each.text for each in drawn.levels] == ["0", "10", "20", "30"]
    assert drawn.sentence == "Rows over the last 2 min: from 0 to 30, mean 19."
    assert [each.text for each in drawn.cells] == ["0", "30", "\N{EN DASH}", "30", "15"]


def test_without_values_it_says_so() -> None:
    drawn = chart("Lag", [None] * 4, FROM, 900, words.duration)
    assert (drawn.line, drawn.now) == ("", "\N{EN DASH}")
    assert drawn.sentence == "Lag over the last 1 h: no value is known."


def state_of(since_s: int, until_s: int | None, state: str) -> StateView:
    return StateView(
        since_ms=FROM + since_s * 1000,
        until_ms=None if until_s is None else FROM + until_s * 1000,
        state=state,
        code="",
        reason="",
        relay="r1",
        exact=True,
    )


@pytest.mark.parametrize(
    ("states", "widths", "running"),
    [
        ([state_of(-50, None, "RUNNING")], [WIDTH], "100.0 % running"),
        (
            [state_of(-50, 50, "RUNNING"), state_of(50, None, "STOPPED")],
            [WIDTH / 2, WIDTH / 2],
            "50.0 % running",
        ),
        (
            [state_of(0, 50, "RUNNING"), state_of(50, None, "")],
            [WIDTH / 2, WIDTH / 2],
            "100.0 % running",
        ),
        (
            [state_of(0, 0, "WAITING"), state_of(0, None, "RUNNING")],
            [3.0, WIDTH],
            "100.0 % running",
        ),
        ([], [], ""),
    ],
)
def test_a_bar_is_as_wide_as_its_time(
    states: list[StateView], widths: list[float], running: str
) -> None:
    view = StatesView(instance="shop", from_ms=FROM, read_ms=FROM + 100_000, states=states)
    drawn = timeline(view)
    assert [each.width for each in drawn.bars] == pytest.approx(widths)
    assert drawn.running == running
    assert [each.state for each in drawn.lines] == [each.state for each in reversed(states)]

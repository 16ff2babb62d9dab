"""Computes the states of an instance as a bar and as a table."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.models.watch.series import StatesView, StateView
from api.web import words

WIDTH: Final = 1000
_LEAST: Final = 3.0
"""A short state is drawn this wide, so that it is seen."""
_MS: Final = 1000
_LISTED: Final = 12


class Bar(NamedTuple):
    """A part of the bar for one state; `x` and `width` are in the units of the SVG."""

    state: str
    x: float
    width: float


class Line(NamedTuple):
    """A row of the table below the bar: one state with its times.

    since_ms  when the state began, in Unix milliseconds
    exact     whether `since_ms` is exact; otherwise the state may have begun earlier
    span      how long the state lasted, as text
    relay     the relay that reported it
    code      the code of its error, "" without one
    reason    the reason of its error, "" without one
    """

    since_ms: int
    exact: bool
    state: str
    span: str
    relay: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The states of an instance for a template.

    bars      the states, the oldest first
    lines     the newest states, the newest first
    sentence  a description for screen readers
    running   the share of the recorded time in which the instance was running, as text; "" if no
              time was recorded
    from_ms   the begin of the range in Unix milliseconds
    """

    bars: list[Bar]
    lines: list[Line]
    sentence: str
    running: str
    from_ms: int


def timeline(view: StatesView) -> Timeline:
    """Return the bar and the table for the states of an instance."""
    whole = max(1, view.read_ms - view.from_ms)
    spans = [(each, *_span(each, view)) for each in view.states]
    bars = [
        Bar(
            each.state,
            (begin - view.from_ms) / whole * WIDTH,
            max(_LEAST, (end - begin) / whole * WIDTH),
        )
        for each, begin, end in spans
    ]
    known = sum(end - begin for each, begin, end in spans if each.state)
    running = sum(end - begin for each, begin, end in spans if each.state == "RUNNING")
    share = f"{running / known:.1%} running" if known else ""
    return Timeline(
        bars,
        [_line(each, view) for each in view.states[::-1][:_LISTED]],
        _sentence(view),
        share.replace("%", " %"),
        view.from_ms,
    )


def _span(state: StateView, view: StatesView) -> tuple[int, int]:
    begin = max(state.since_ms, view.from_ms)
    return begin, max(begin, state.until_ms or view.read_ms)


def _line(state: StateView, view: StatesView) -> Line:
    end = state.until_ms or view.read_ms
    return Line(
        state.since_ms,
        state.exact,
        state.state,
        words.duration(max(0, end - state.since_ms) / _MS),
        state.relay,
        state.code,
        state.reason
        if state.state
        else "Not recorded: the admin was not running, or ZooKeeper did not answer.",
    )


def _sentence(view: StatesView) -> str:
    parts = [
        f"{each.state.lower() or 'not read'} since {words.clock(each.since_ms)}"
        for each in view.states[-5:]
    ]
    return f"States, the oldest first: {', '.join(parts) or 'none'}."

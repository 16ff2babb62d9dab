"""Draws a chart of one metric as SVG paths, with axis, unit, sentence and table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Final, NamedTuple

from api.web import words

LEFT: Final = 44
RIGHT: Final = 490
TOP: Final = 8
BOTTOM: Final = 130
_LINES: Final = 3
"""Horizontal lines above the axis."""
_TIMES: Final = 5
"""Moments that are named below the axis."""
_MS: Final = 1000
_SMALLEST: Final = 1e-9
"""Below this a value is drawn as zero."""
_NICE: Final = (1, 2, 3, 4, 5, 6, 8, 10)


class Label(NamedTuple):
    """A text next to an axis. `at` is its coordinate in the drawing."""

    at: float
    text: str
    anchor: str = "end"


class Cell(NamedTuple):
    """A row of the chart's table: a time in Unix milliseconds, and a value as text."""

    at_ms: int
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The data of the template for one chart.

    line, area  attribute `d` of the SVG paths; a gap interrupts both
    levels      labels of the vertical axis
    times       labels of the horizontal axis
    now         the last value as text
    mean, peak  mean and greatest value as text
    sentence    description of the chart for screen readers
    cells       rows of the chart's table
    """

    line: str
    area: str
    levels: list[Label]
    times: list[Label]
    now: str
    mean: str
    peak: str
    sentence: str
    cells: list[Cell]


def chart(
    title: str,
    values: Sequence[float | None],
    from_ms: int,
    step_s: float,
    text: Callable[[float | None], str],
) -> Chart:
    """Return the drawing of values at equal intervals.

    title    name of the metric
    values   the values; None: a gap
    from_ms  begin of the first interval in Unix milliseconds
    step_s   length of an interval in seconds
    text     returns a value with its unit
    """
    known = [each for each in values if each is not None]
    top = _nice_top(max(known, default=0.0))
    step_ms = step_s * _MS
    mean = sum(known) / len(known) if known else None
    peak = max(known) if known else None
    span = words.duration(step_s * len(values))
    found = (
        f"from {text(min(known))} to {text(peak)}, mean {text(mean)}"
        if known
        else "no value is known"
    )
    return Chart(
        line=_path(values, top),
        area=_area(values, top),
        levels=[
            Label(_y(top * each / _LINES, top), text(top * each / _LINES))
            for each in range(_LINES + 1)
        ],
        times=_times(len(values), from_ms, step_ms),
        now=text(values[-1] if values else None),
        mean=text(mean),
        peak=text(peak),
        sentence=f"{title} over the last {span}: {found}.",
        cells=_cells(values, from_ms, step_ms, text),
    )


def _nice_top(greatest: float) -> float:
    """Return the top of the axis: at least the greatest value, and a third of it is a round
    number.
    """
    third = greatest / _LINES
    if third < _SMALLEST:
        return float(_LINES)
    power: float = 10.0 ** floor(log10(third))
    return _LINES * next(each * power for each in _NICE if each * power >= third * 0.999999)


def _x(at: int, count: int) -> float:
    return LEFT + (RIGHT - LEFT) * at / max(1, count - 1)


def _y(value: float, top: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * value / top


def _runs(values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Return the parts of the line between gaps: index and value of their points."""
    runs: list[list[tuple[int, float]]] = [[]]
    for at, value in enumerate(values):
        if value is not None:
            runs[-1].append((at, value))
        elif runs[-1]:
            runs.append([])
    return [each for each in runs if each]


def _path(values: Sequence[float | None], top: float) -> str:
    parts = []
    for run in _runs(values):
        points = [f"{_x(at, len(values)):.1f} {_y(value, top):.1f}" for at, value in run]
        dot = "" if len(points) > 1 else "h.1"
        parts.append(f"M{'L'.join(points)}{dot}")
    return "".join(parts)


def _area(values: Sequence[float | None], top: float) -> str:
    parts = []
    for run in _runs(values):
        points = "L".join(f"{_x(at, len(values)):.1f} {_y(value, top):.1f}" for at, value in run)
        first, last = _x(run[0][0], len(values)), _x(run[-1][0], len(values))
        parts.append(f"M{points}L{last:.1f} {BOTTOM}L{first:.1f} {BOTTOM}Z")
    return "".join(parts)


def _marks(count: int) -> list[int]:
    return sorted({round(each * (count - 1) / (_TIMES - 1)) for each in range(_TIMES)})


def _times(count: int, from_ms: int, step_ms: float) -> list[Label]:
    anchors = {count - 1: "end", 0: "start"}
    return [
        Label(
            _x(at, count),
            words.short_clock(round(from_ms + at * step_ms)),
            anchors.get(at, "middle"),
        )
        for at in _marks(count)
    ]


def _cells(
    values: Sequence[float | None],
    from_ms: int,
    step_ms: float,
    text: Callable[[float | None], str],
) -> list[Cell]:
    every = max(1, len(values) // 12)
    return [
        Cell(round(from_ms + at * step_ms), text(values[at])) for at in range(0, len(values), every)
    ]

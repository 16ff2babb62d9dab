"""The plot of a series; equal figures give equal files."""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from tools.bench.measuring.figures import Run, Summary
from tools.bench.scaling.measured import Measured
from tools.bench.scaling.points import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE_INCHES: Final = (7.0, 3.8)


def svg(measured: Measured) -> bytes:
    """Draw medians as lines and every run as a dot.

    Points of several processes are not on the line.
    """
    # Here, because importing it takes longer than most commands and tests that never draw.
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "relay", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
        axes = figure.add_subplot()
        _curve(
            axes, measured, "rows/s", lambda each: each.rows_per_second, color="#1f5fa8", marker="o"
        )
        _curve(
            axes,
            measured,
            "rows per CPU-second",
            lambda each: each.rows_per_cpu_second,
            color="#c2571a",
            marker="s",
        )
        _dress(axes, measured)
        written = BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()


def _curve(
    axes: "Axes",
    measured: Measured,
    name: str,
    speed: Callable[[Run | Summary], float],
    **style: Any,
) -> None:
    medians = {each.contestant: speed(each) for each in measured.summaries()}
    there = [point for point in measured.series.points if point.label in medians]
    for point in there:
        speeds = [speed(run) for run in measured.runs_of(point.label)]
        axes.plot(
            [point.x] * len(speeds), speeds, **style, markersize=2.5, linestyle="none", alpha=0.6
        )
    curve, beside = (
        [point for point in there if point.beside is wanted] for wanted in (False, True)
    )
    axes.plot(
        _xs(curve), [medians[point.label] for point in curve], **style, markersize=4, label=name
    )
    if beside:
        hollow: dict[str, Any] = {
            "markersize": 7,
            "markerfacecolor": "none",
            "linestyle": "none",
            "label": f"{name}, 2 processes",
        }
        axes.plot(_xs(beside), [medians[point.label] for point in beside], **style, **hollow)


def _xs(points: list[Point]) -> list[int]:
    return [point.x for point in points]


def _dress(axes: "Axes", measured: Measured) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    series = measured.series
    ticks = {point.x: f"{point.x:,}" for point in series.points}
    axes.set_xscale("log")
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(series.axis)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(_thousands))
    axes.grid(visible=True, alpha=0.3)
    axes.set_title(f"{measured.title}\n{series.held}", fontsize=8)
    axes.legend(frameon=False, loc="best")


def _thousands(value: float, _position: int | None) -> str:
    return f"{value:,.0f}"

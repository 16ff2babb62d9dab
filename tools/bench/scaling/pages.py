"""The report of a series: its table, and notes on the greatest drop between two points."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Final

from tools.bench.measuring.figures import Summary
from tools.bench.measuring.report import Report
from tools.bench.scaling.measured import Measured
from tools.bench.scaling.points import Series

_MEASURED: Final = (
    "rows/s: rows divided by the time from the first row in Kafka's log until a read_committed "
    "consumer can read the last one, checked every 10 ms. Such a consumer then counted all rows. "
    "CPU (user and system) covers the same time, peak memory (VmHWM) the whole run; both are sums "
    "over all relays. Start-up ends at the first counted row. All figures are medians of the "
    "rounds; the rounds measure the points in rising and in falling order by turns."
)


def page(measured: Measured, picture: str) -> Report:
    """Return the report of a series; `picture` is the name of its plot's file."""
    series, summaries = measured.series, measured.summaries()
    head = (
        series.axis, "rows", "rows/s", "slowest to fastest", "rows per CPU-s", "CPU µs a row",
        "values/s", "binlog", "peak memory",
        "broker CPU", "start-up", "cores used by others",
    )  # fmt: skip
    rows = [_row(series, each) for each in summaries]
    notes = [
        f"Held constant: {series.held}.",
        *_cliffs(series, summaries),
        _MEASURED,
        *measured.failures,
    ]
    return Report(
        measured.title, head, rows, notes, [asdict(run) for run in measured.runs], picture
    )


def _row(series: Series, each: Summary) -> tuple[str, ...]:
    shape = next(point.shape for point in series.points if point.label == each.contestant)
    return (
        each.contestant,
        f"{shape.rows * shape.instances:,}",
        f"{each.rows_per_second:,.0f}",
        f"{each.slowest:,.0f} to {each.fastest:,.0f}",
        f"{each.rows_per_cpu_second:,.0f}",
        f"{1e6 / each.rows_per_cpu_second:.1f}",
        f"{each.rows_per_second * shape.columns:,.0f}",
        f"{each.binlog_megabytes_per_second:.1f} MB/s",
        f"{each.peak_megabytes or 0:,.0f} MB",
        f"{each.broker_s:.1f} s",
        f"{each.startup_s:.1f} s",
        f"{max(0.0, each.other_cores):.2f}",
    )


def _cliffs(series: Series, summaries: Sequence[Summary]) -> list[str]:
    """Return the ratio of the whole curve and that of its steepest step. A cliff is a step with
    most of the whole ratio.
    """
    beside = {point.label for point in series.points if point.beside}
    curve = [each for each in summaries if each.contestant not in beside]
    if len(curve) < 2:
        return []
    return [
        _ratios("Rows/s", [(each.contestant, each.rows_per_second) for each in curve]),
        _ratios(
            "Rows per CPU-second", [(each.contestant, each.rows_per_cpu_second) for each in curve]
        ),
    ]


def _ratios(what: str, curve: Sequence[tuple[str, float]]) -> str:
    slowest, fastest = (choose(curve, key=lambda point: point[1]) for choose in (min, max))
    steps = [
        (after / before, f"{earlier} to {later}")
        for (earlier, before), (later, after) in pairwise(curve)
    ]
    least, where = min(steps)
    whole = (
        f"{what}: the lowest value (at {slowest[0]}) is {slowest[1] / fastest[1]:.2f} times the "
        f"greatest (at {fastest[0]})"
    )
    return (
        f"{whole}. The greatest drop between two neighbouring points is from {where}, where "
        f"{least:.2f} of the value remain."
        if least < 1
        else f"{whole}; it never falls."
    )

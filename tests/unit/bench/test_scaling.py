"""Series, pages and plots of the scaling benchmark."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.bench.test_figures import A_RUN
from tests.unit.bench.test_report import A_SETTING
from tools.bench.scaling import SERIES_NAMES, page, svg
from tools.bench.scaling.measured import Measured
from tools.bench.scaling.points import Point, Series, Shape, all_series, quick, visits

_SERIES = Series(
    "instances",
    "instances",
    "the rest",
    (
        Point("1", 1, Shape(1000)),
        Point("4", 4, Shape(1000, instances=4)),
        Point("4 in 2", 4, Shape(1000, instances=4, processes=2)),
    ),
)


def _measured(**seconds: tuple[float, ...]) -> Measured:
    """Runs of 1000 rows that took so many seconds, by point (`_4` for "4")."""
    labels = {"_1": "1", "_4": "4", "_4_in_2": "4 in 2"}
    runs = [
        replace(
            A_RUN,
            workload="instances",
            contestant=labels[name],
            round=number,
            rows=1000,
            wall_s=wall,
            process_s=wall / 2,
        )
        for name, walls in seconds.items()
        for number, wall in enumerate(walls, 1)
    ]
    return Measured(_SERIES, runs)


def test_each_series_lets_one_thing_grow_to_its_end() -> None:
    ends = {
        series.name: (series.points[0].x, max(point.x for point in series.points))
        for series in all_series()
    }
    assert ends == {
        "columns": (5, 240),
        "transactions": (1, 10_000),
        "tables": (1, 10_000),
        "partitions": (1, 256),
        "instances": (1, 8),
    }
    assert tuple(ends) == SERIES_NAMES


def test_a_quick_series_keeps_its_ends_its_middle_and_what_stands_beside() -> None:
    for series in all_series():
        small = quick(series)
        curve = [point for point in small.points if not point.beside]
        assert len(curve) == 3
        assert (curve[0].x, curve[-1].x) == (
            series.points[0].x,
            max(point.x for point in series.points),
        )
        assert [p.label for p in small.points if p.beside] == [
            p.label for p in series.points if p.beside
        ]
        assert all(
            point.shape.rows < next(p.shape.rows for p in series.points if p.label == point.label)
            for point in curve
        )


def test_sizes_that_do_not_come_out_even_are_refused() -> None:
    with pytest.raises(ValueError, match="must divide"):
        Shape(1000, transaction_rows=3)
    with pytest.raises(ValueError, match="evenly"):
        Shape(1000, instances=3, processes=2)


def test_rounds_go_there_and_back_again() -> None:
    first, second, third = _SERIES.points
    assert visits(_SERIES.points, 3) == [
        *((1, point) for point in (first, second, third)),
        *((2, point) for point in (third, second, first)),
        *((3, point) for point in (first, second, third)),
    ]


def test_the_page_says_how_deep_the_curve_falls_and_where() -> None:
    report = page(_measured(_1=(1.0, 1.0), _4=(4.0, 6.0), _4_in_2=(2.0,)), "scaling-instances.svg")
    assert [row[0] for row in report.rows] == ["1", "4", "4 in 2"]
    assert report.rows[1][2:4] == ("208", "167 to 250")
    assert (
        "Rows/s: the lowest value (at 4) is 0.21 times the greatest (at 1). The greatest drop "
        "between two neighbouring points is from 1 to 4, where 0.21 of the value remain."
    ) in report.notes
    assert report.notes[0] == "Held constant: the rest."


def test_a_curve_that_only_rises_has_no_step_down_and_a_lone_point_no_curve() -> None:
    assert (
        "Rows/s: the lowest value (at 1) is 0.50 times the greatest (at 4); it never falls."
        in page(_measured(_1=(2.0,), _4=(1.0,)), "").notes
    )
    assert not any("lowest" in note for note in page(_measured(_1=(2.0,)), "").notes)


def test_what_failed_stands_under_the_table() -> None:
    measured = _measured(_1=(1.0,), _4=(1.0,))
    measured.failures.append("NOT MEASURED: something")
    assert page(measured, "").notes[-1] == "NOT MEASURED: something"


def test_the_written_page_shows_its_picture(tmp_path: Path) -> None:
    report = page(_measured(_1=(1.0,), _4=(1.0,)), "scaling-instances.svg")
    report.write(tmp_path, "scaling-instances", A_SETTING)
    assert "\n![Speed by instances](scaling-instances.svg)\n" in (
        tmp_path / "scaling-instances.md"
    ).read_text(encoding="utf-8")
    assert (
        len(
            json.loads((tmp_path / "scaling-instances.json").read_text(encoding="utf-8"))[
                "measured"
            ]
        )
        == 2
    )


def test_the_same_runs_give_the_same_picture() -> None:
    measured = _measured(_1=(1.0, 1.2), _4=(1.0, 1.1), _4_in_2=(0.8,))
    drawn = svg(measured)
    assert drawn == svg(measured)
    text = drawn.decode()
    for word in (
        "rows/s",
        "rows per CPU-second",
        "rows/s, 2 processes",
        "Speed by instances",
        "the rest",
    ):
        assert f">{word}</text>" in text


def test_every_table_is_met_before_rows_count() -> None:
    shape = Shape(1000, transaction_rows=20, tables=10)
    assert (shape.uncounted, shape.written, shape.transactions) == (200, 1200, 60)
    assert (Shape(1000).uncounted, Shape(1000).written) == (0, 1000)

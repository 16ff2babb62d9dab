"""Bars on a terminal, lines elsewhere, and the figures of both."""

from io import StringIO
from itertools import count

import pytest
from py4j.protocol import Py4JError
from rich.console import Console

from spark_jobs.runtime.metrics import JobMetrics
from spark_jobs.spark_util.progress import LINE_SECONDS, Piece, Progress


class Clock:
    """Seconds that only a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_figures(clock: Clock) -> None:
    piece = Piece(
        "shop.t", 1000, 200, before=200, step="1 of 2 shards", estimated=True, clock=clock
    )
    clock.now = 10.0
    piece.add(300)
    assert str(piece) == "shop.t: 1 of 2 shards, 500 of about 1000 rows (50%), 30 rows/s, 16 s left"
    piece.next_step("comparing", None)
    assert str(piece) == "shop.t: comparing, 0 rows, 0 rows/s"


def test_an_estimate_that_is_too_low_is_no_more_than_everything(clock: Clock) -> None:
    piece = Piece("shop.t", 100, clock=clock)
    clock.now = 10.0
    piece.add(250)
    assert str(piece) == "shop.t: 250 of 100 rows (100%), 25 rows/s, 0 s left"


def test_elsewhere_a_line_comes_every_30_seconds(clock: Clock) -> None:
    lines: list[str] = []
    shown = Progress(Console(file=StringIO()), lines.append)
    with shown.piece(Piece("batch 0", step="reading", clock=clock)):
        for clock.now in (1.0, LINE_SECONDS, LINE_SECONDS + 1, 2 * LINE_SECONDS):
            shown.show()
    shown.show()
    assert lines == ["batch 0: reading, 0 rows, 0 rows/s"] * 2


def test_a_terminal_shows_a_bar_and_no_lines() -> None:
    lines: list[str] = []
    output = StringIO()
    console = Console(file=output, force_terminal=True, width=120)
    with Progress(console, lines.append) as shown, shown.piece(Piece("shop.t", 10)) as piece:
        piece.add(5)
        shown.show()
    assert "5 of 10 rows (50%)" in output.getvalue()
    assert not lines


def test_what_spark_counts_is_asked_for_until_the_step_ends() -> None:
    answers = count(5, 5)
    piece = Piece("batch 0", read_rows=lambda: next(answers))
    piece.poll()
    piece.poll()
    assert piece.rows == 10
    piece.next_step("writing", 10)
    piece.poll()
    assert piece.rows == 0


def test_a_spark_that_does_not_answer_changes_nothing() -> None:
    def broken() -> int:
        raise Py4JError("gone")

    piece = Piece("batch 0", rows=3, read_rows=broken)
    piece.poll()
    assert piece.rows == 3


def test_the_metrics_show_the_batch_that_runs(clock: Clock) -> None:
    metrics, piece = JobMetrics(), Piece("batch 0", 10, clock=clock)

    def served() -> list[float | None]:
        return [
            metrics.registry.get_sample_value(f"roma_dedup_running_batch_{name}")
            for name in ("rows", "total_rows", "seconds")
        ]

    metrics.began(piece)
    piece.add(4)
    clock.now = 2.5
    assert served() == [4.0, 10.0, 2.5]
    metrics.began(None)
    assert served() == [0.0, 0.0, 0.0]

"""What the rounds of `make clients` conclude from the lines of services."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tools.clients.judging import Row, Verdict, Work, history, judged, works

RIGHT = Verdict(processed=4, lost=0, foreign=0, out_of_order=0, torn=0, repeated=0, turns=0)
ONE = frozenset({1})


def by(pid: int, *rows: Row) -> list[Work]:
    return [Work(pid, 0.0, [each]) for each in rows]


def test_each_row_counts_its_changes_from_nought() -> None:
    assert history({1: 1, 2: 0}) == {(1, 0), (1, 1), (2, 0)}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (by(7, (1, 0), (2, 0), (1, 1), (1, 2)), RIGHT),
        (by(7, (1, 0), (2, 0), (1, 1)), replace(RIGHT, processed=3, lost=1)),
        (by(7, (1, 0), (1, 2), (1, 1), (2, 0)), replace(RIGHT, out_of_order=1)),
        (by(7, (1, 0), (1, 1), (1, 2), (2, 0), (3, 0)), replace(RIGHT, processed=5, foreign=1)),
        (
            [*by(7, (1, 0), (1, 1)), *by(8, (1, 1), (1, 2), (2, 0))],
            replace(RIGHT, processed=5, repeated=1, turns=1),
        ),
        (  # a paused client ends its one change later
            [
                *by(7, (1, 0), (1, 1)),
                *by(8, (1, 1), (1, 2)),
                *by(7, (1, 1)),
                *by(8, (2, 0), (2, 0)),
            ],
            replace(RIGHT, processed=7, repeated=3, turns=1),
        ),
    ],
)
def test_a_verdict_tells_what_is_wrong(found: Sequence[Work], expected: Verdict) -> None:
    wanted = history({1: 2, 2: 0})
    verdict = judged(found, wanted, ONE)
    assert verdict == expected
    assert verdict.clean == (expected.lost + expected.foreign + expected.out_of_order == 0)


def test_a_transaction_without_some_of_its_rows_is_torn() -> None:
    whole = Work(7, 0.0, [(1, 0), (2, 0), (3, 0)])
    torn = Work(7, 0.0, [(1, 1), (2, 1)])
    assert judged([whole, torn], history({1: 1, 2: 1, 3: 0}), {3}).torn == 1


def test_a_line_that_a_kill_cut_off_is_left_out() -> None:
    line = json.dumps(by(7, (1, 0))[0])
    assert works(f"{line}\n{line[:9]}") == [Work(7, 0.0, [[1, 0]])]  # type: ignore[list-item]

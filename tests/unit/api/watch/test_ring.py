"""Rings and rates: bounded, with gaps where nothing is known."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.services.watch.rate import LONGEST_GAP_MS, Reading, rows_per_second
from api.services.watch.ring import Ring, folded

SIZE, STEP = 8, 5
SAMPLES = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.one_of(st.none(), st.floats(0, 1000, width=32, allow_subnormal=False)),
    ),
    max_size=40,
)


@given(SAMPLES, st.integers(-12, 12), st.integers(1, SIZE))
def test_a_ring_of_maxima_holds_what_a_dictionary_would(
    samples: list[tuple[int, float | None]], later: int, count: int
) -> None:
    ring, expected, now = Ring(STEP, SIZE, "max"), dict[int, float](), 0
    for pause, value in samples:
        now += pause
        ring.put(now, value)
        if value is not None:
            bucket = now // STEP
            expected[bucket] = max(value, expected.get(bucket, value))
    newest = now // STEP
    assert ring.read(now, SIZE) == [
        expected.get(bucket) for bucket in range(newest - SIZE + 1, newest + 1)
    ]
    kept, last = range(newest - SIZE + 1, newest + 1), newest + later
    assert ring.read(last * STEP, count) == [
        expected.get(bucket) if bucket in kept else None
        for bucket in range(last - count + 1, last + 1)
    ]


@given(st.lists(st.floats(0, 1000, width=32), min_size=1, max_size=20))
def test_a_bucket_of_means_holds_the_mean(values: list[float]) -> None:
    ring = Ring(STEP, SIZE, "mean")
    for value in values:
        ring.put(3, value)
    (found,) = ring.read(3, 1)
    assert found == pytest.approx(math.fsum(values) / len(values), rel=1e-3, abs=1e-3)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_clock_that_jumps_leaves_a_ring_that_takes_values(first: int, then: int) -> None:
    ring = Ring(STEP, SIZE, "max")
    ring.put(first, 1.0)
    ring.put(then, 2.0)
    assert ring.read(then, 1) == [2.0]
    assert ring.read(then + STEP, 1) == [None]
    assert len([each for each in ring.read(then, SIZE) if each is not None]) <= 2


def test_a_clock_that_was_set_back_keeps_what_is_older() -> None:
    ring = Ring(STEP, SIZE, "max")
    for second in (0, 5, 10, 15):
        ring.put(second, float(second))
    ring.put(7, None)
    assert ring.read(15, 4) == [0.0, 5.0, None, None]


def test_a_silence_longer_than_the_ring_leaves_nothing() -> None:
    ring = Ring(STEP, SIZE, "max")
    ring.put(0, 1.0)
    ring.put(STEP * SIZE, None)
    assert ring.read(STEP * SIZE, SIZE) == [None] * SIZE


def test_folding_ignores_gaps_and_keeps_whole_gaps() -> None:
    values = [1.0, None, None, None, 3.0, 5.0]
    assert folded(values, 3, "mean") == [1.0, None, 4.0]
    assert folded(values, 3, "max") == [1.0, None, 5.0]


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(-(10**6), 10**6))
def test_a_rate_is_never_negative(before: int, rows: int, elapsed_ms: int) -> None:
    rate = rows_per_second(Reading(10**9, before, "r1"), Reading(10**9 + elapsed_ms, rows, "r1"))
    assert rate is None or rate >= 0


@pytest.mark.parametrize(
    ("before", "now", "rate"),
    [
        (Reading(1000, 10, "r1"), Reading(6000, 60, "r1"), 10.0),
        (Reading(1000, 10, "r1"), Reading(6000, 10, "r1"), 0.0),
        (None, Reading(6000, 60, "r1"), None),
        (Reading(1000, 60, "r1"), Reading(6000, 10, "r1"), None),
        (Reading(1000, 10, "r1"), Reading(6000, 60, "r2"), None),
        (Reading(1000, 10, "r1"), Reading(1000, 10, "r1"), None),
        (Reading(6000, 10, "r1"), Reading(1000, 60, "r1"), None),
        (Reading(0, 10, "r1"), Reading(LONGEST_GAP_MS + 1, 60, "r1"), None),
    ],
)
def test_a_restarted_relay_or_a_gap_has_no_rate(
    before: Reading | None, now: Reading, rate: float | None
) -> None:
    assert rows_per_second(before, now) == rate

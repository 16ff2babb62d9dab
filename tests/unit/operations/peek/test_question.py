"""What a reader asks for, and how fast it is answered."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.services.peek import PeekOffsets
from relay.model.table import TableId
from relay.operations import (
    FromMoment,
    FromNewest,
    FromNow,
    PeekedRow,
    PeekQuestion,
    PeekStart,
    near_names,
    peek_start,
)
from relay.operations.peek.pace import RowPace

NOW_MS = 1_800_000_000_000
ROW = PeekedRow("t", 0, 1, 0, 0, "UPDATE", ("17", "b"), False, (), None, (), {})


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("now", FromNow()),
        ("last", FromNewest()),
        ("15m", FromMoment(NOW_MS - 900_000)),
        ("2d", FromMoment(NOW_MS - 172_800_000)),
        ("1700000000000", FromMoment(1_700_000_000_000)),
        ("2026-01-31T12:00:00Z", FromMoment(1_769_860_800_000)),
        ("9999999d", FromMoment(0)),
    ],
)
def test_a_start_is_a_word_a_span_or_a_time(text: str, start: PeekStart) -> None:
    assert peek_start(text, NOW_MS) == start


@pytest.mark.parametrize("text", ["", "yesterday", "0m", "-5m", "2026-01-31T12:00:00", "9" * 30])
def test_another_start_is_refused_with_the_forms_that_exist(text: str) -> None:
    with pytest.raises(ValueError, match="is not a start: write now"):
        peek_start(text, NOW_MS)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_a_start(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(peek_start(text, NOW_MS), FromNow | FromNewest | FromMoment)


def test_a_question_asks_for_an_operation_and_a_part_of_the_key() -> None:
    asked = PeekQuestion(TableId("a", "b"))
    assert asked.accepts(ROW)
    assert replace(asked, key="7, b", operation="UPDATE").accepts(ROW)
    assert not replace(asked, operation="DELETE").accepts(ROW)
    assert not replace(asked, key="8").accepts(ROW)
    assert not replace(asked, key="1").accepts(replace(ROW, key_hidden=True))


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(0, 50)), max_size=30))
def test_no_second_shows_more_than_the_burst_and_its_rate(polls: list[tuple[float, int]]) -> None:
    pace, now, shown = RowPace(5, 5, 0.0), 0.0, 0
    for passed, wanted in polls:
        now += passed
        taken = pace.take(wanted, now)
        assert taken <= min(wanted, 5)
        shown += taken
    assert shown <= 5 + 5 * now + 1e-6


def test_a_burst_is_shown_at_once_and_then_the_rate_holds() -> None:
    pace = RowPace(5, 50, 0.0)
    assert [pace.take(60, at) for at in (0.0, 0.5, 1.0, 10.0)] == [50, 2, 3, 5]


@given(st.dictionaries(st.integers(0, 99_999), st.integers(0, 10**17), min_size=1, max_size=20))
def test_places_are_read_as_they_were_written(offsets: dict[int, int]) -> None:
    assert PeekOffsets.read(PeekOffsets(offsets).text) == PeekOffsets(offsets)


@pytest.mark.parametrize("text", ["", "1", "1-", "a-b", "1-2,", "1-2;3-4", "1" * 9000])
def test_other_texts_are_no_places(text: str) -> None:
    assert PeekOffsets.read(text) is None


def test_near_names_are_those_of_the_same_table_first() -> None:
    known = ["billing.orders", "shop.client", "shop.orders", "shop.order_items"]
    assert near_names("shoop.orders", known)[:2] == ("billing.orders", "shop.orders")
    assert near_names("shop.clinet", known)[0] == "shop.client"
    assert near_names("zzzz", known) == ()

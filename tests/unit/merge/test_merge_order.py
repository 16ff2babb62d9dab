"""Merged streams are in order if sources keep their watermarks; no item is lost, and none waits
forever.
"""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.merge import MergeOrder

NAMES = ("a", "b", "c")
STREAMS = st.fixed_dictionaries(
    {name: st.lists(st.integers(1, 20), max_size=6).map(sorted) for name in NAMES}
)


def merged(  # noqa: C901 -- one loop over the steps, as the reader of a group has it
    streams: dict[str, list[int]], steps: list[tuple[str, bool]], slack_ms: int = 0
) -> tuple[list[tuple[int, str]], MergeOrder]:
    """Let sources bring their transactions step by step (True), or say how far they are (False),
    and take what can be taken.

    At the end every source says that it has nothing more.
    """
    order = MergeOrder(NAMES)
    left = {name: deque(times) for name, times in streams.items()}
    waiting: dict[str, int] = {}
    taken: list[tuple[int, str]] = []

    def bring(name: str) -> None:
        if name not in waiting and left[name]:
            waiting[name] = left[name].popleft()
            order.came(name, waiting[name])

    def take() -> None:
        while (name := order.next()) is not None:
            order.took(name)
            taken.append((waiting.pop(name), name))

    for name, brings in steps:
        if brings:
            bring(name)
        elif name not in waiting:
            order.rests(name, (left[name][0] if left[name] else 100) + slack_ms)
        take()
    while any(left.values()) or waiting:
        for name in NAMES:
            bring(name)
            if name not in waiting:
                order.rests(name, 1000)
        take()
    return taken, order


@given(STREAMS, st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=40))
def test_with_true_watermarks_the_order_is_that_of_time_and_source(
    streams: dict[str, list[int]], steps: list[tuple[str, bool]]
) -> None:
    taken, order = merged(streams, steps)
    expected = sorted((time, name) for name, times in streams.items() for time in times)
    assert sorted(taken) == expected
    assert [time for time, _ in taken] == [time for time, _ in expected]
    assert order.late == 0


@given(
    STREAMS,
    st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=40),
    st.integers(0, 10),
)
def test_whatever_watermarks_say_nothing_is_lost_and_each_source_keeps_its_order(
    streams: dict[str, list[int]], steps: list[tuple[str, bool]], slack_ms: int
) -> None:
    taken, order = merged(streams, steps, slack_ms)
    for name in NAMES:
        assert [time for time, source in taken if source == name] == streams[name]
    assert order.next() is None


def test_a_source_that_said_nothing_holds_the_others() -> None:
    order = MergeOrder(NAMES)
    order.came("a", 5)
    order.rests("b", 100)
    assert order.next() is None
    order.rests("c", 4)
    assert order.next() is None
    order.rests("c", 6)
    assert order.next() == "a"


def test_what_comes_below_the_watermark_is_taken_at_once_and_counted() -> None:
    order = MergeOrder(NAMES)
    order.rests("b", 10)
    order.came("a", 2)
    order.came("b", 3)
    assert order.next() == "b", "although c may bring something before either"
    order.took("b")
    assert order.late == 1
    assert order.next() is None


def test_a_source_that_is_dated_back_counts_as_of_its_last_transaction() -> None:
    order = MergeOrder(("a", "b"))
    order.came("a", 9)
    order.rests("b", 20)
    order.took("a")
    order.came("a", 3)
    assert (order.next(), order.late) == ("a", 0)


@pytest.mark.parametrize(("first", "taken"), [(None, "a"), ("b", "b")])
def test_a_transaction_that_is_half_published_goes_first(first: str | None, taken: str) -> None:
    order = MergeOrder(("a", "b"), first)
    order.came("a", 1)
    assert order.next() is None
    order.came("b", 2)
    assert order.next() == taken
    order.took(taken)
    assert order.next() == (None if taken == "a" else "a")


SAID = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["brings", "rests"]), st.integers(1, 20)),
    max_size=40,
)


@given(SAID)
def test_a_transaction_goes_exactly_when_nothing_can_come_before_it(
    said: list[tuple[str, str, int]],
) -> None:
    order = MergeOrder(NAMES)
    waiting: dict[str, int] = {}
    earliest = dict.fromkeys(
        NAMES, 0
    )  # what each source may bring next, by its transactions and by its word
    word = dict.fromkeys(NAMES, 0)
    for name, what, time in said:
        if what == "rests":
            order.rests(name, time)
            word[name] = max(word[name], time)
        elif name not in waiting:
            order.came(name, time)
            waiting[name] = earliest[name] = max(earliest[name], time)
        taken = order.next()
        broken = [each for each in sorted(waiting) if waiting[each] < word[each]]
        possible = {each: waiting.get(each, max(earliest[each], word[each])) for each in NAMES}
        first = min(NAMES, key=lambda each: (possible[each], each))
        assert taken == (broken[0] if broken else first if first in waiting else None)
        if taken is not None:
            order.took(taken)
            del waiting[taken]

"""The threads of a group hand over whole transactions, each under the name of its source, in the
merged order.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from time import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.errors import BatchAborted, RolledBackRows, SourceUnreachable
from relay.merge import MergeOrder, by_execute_time
from relay.model.change import (
    Advance,
    FromSource,
    RawItem,
    Statement,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.ingest.group_merger import GroupReader, MergeTimes
from relay.pipeline.ingest.open_sources import OpenSource
from relay.settings import BufferSettings
from relay.steady_clock import SteadyClock
from tests.support.examples import examples
from tests.support.waiting import wait_until

IDENTITY = SourceIdentity("", 1, 0)
START = SourcePosition(BinlogPosition("b.000001", 4), "", IDENTITY)
FAR_S = 4_000_000_000
_MANY = 2_000
"""Transactions: more than a walk that is held back hands over."""
NOW_MS = SteadyClock().now_ms
TIMES = MergeTimes(by_execute_time, 0, 60_000, NOW_MS)


def transaction(number: int, time_s: int, statements: int = 1) -> list[RawItem]:
    place = BinlogPosition("b.000001", number * 100)
    change = Statement(f"-- {number}", "", time_s, place)
    return [
        TransactionBegin(place, "", None, time_s),
        *[change] * statements,
        TransactionEnd(place._replace(offset=number * 100 + 99), "", IDENTITY),
    ]


class Source:
    """A stream that brings its items, then an error or nothing more until it is closed."""

    start = START
    silent_seconds = 0.0

    def __init__(
        self,
        items: Iterable[RawItem],
        error: Exception | None = None,
        before: threading.Event | None = None,
    ) -> None:
        self._items = items
        self._error = error
        self._before = before
        self._closed = threading.Event()

    def items(self, before_waiting: Callable[[], object]) -> Iterator[RawItem]:
        if self._before is not None:
            self._before.wait(20)
        yield from self._items
        before_waiting()
        if self._error is not None:
            raise self._error
        self._closed.wait(20)

    def begin(self) -> None:
        """Bring the items, which were held until now."""
        assert self._before is not None
        self._before.set()

    def close(self) -> None:
        self._closed.set()
        if self._before is not None:
            self._before.set()


def opened(streams: Any) -> dict[str, OpenSource]:
    nobody: Any = None
    return {name: OpenSource(stream, nobody, None) for name, stream in streams.items()}


@contextmanager
def reading(
    sources: dict[str, Source],
    times: MergeTimes,
    *,
    first: str | None = None,
    settings: BufferSettings | None = None,
) -> Iterator[ChangeBuffer]:
    """A buffer that is filled from these sources."""
    limits = settings or BufferSettings()
    buffer = ChangeBuffer(limits)
    reader = GroupReader(
        "x", opened(sources), buffer, limits, MergeOrder(sources, first), times, lambda *_: None
    )
    reader.start()
    try:
        yield buffer
    finally:
        reader.stop()


def take(buffer: ChangeBuffer, transactions: int) -> list[StreamItem]:
    """What comes out of the buffer until so many transactions have ended."""
    found: list[StreamItem] = []
    ended = 0
    while ended < transactions:
        taken = [*buffer.take(5)]
        ended += sum(isinstance(each, TransactionEnd) for each in taken)
        found += taken
    return found


def read(
    sources: dict[str, Source], transactions: int, first: str | None = None
) -> list[StreamItem]:
    """What comes out of a buffer until so many transactions have ended."""
    with reading(sources, TIMES, first=first) as buffer:
        return take(buffer, transactions)


def transactions_of(items: list[StreamItem]) -> list[tuple[str, int, int]]:
    """Source, number and time of each transaction; they must be whole."""
    found: list[tuple[str, int, int]] = []
    source, begun = "", None
    for item in items:
        if isinstance(item, FromSource):
            assert begun is None, "between transactions alone"
            source = item.source
        elif isinstance(item, TransactionBegin):
            assert begun is None
            begun = item
        elif isinstance(item, TransactionEnd):
            assert begun is not None
            assert begun.position.offset == item.position.offset - 99
            found.append((source, begun.position.offset // 100, begun.header_time_s))
            begun = None
    return found


LENGTHS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), max_size=8).map(
    lambda each: sorted(each, key=lambda one: one[0])
)


@settings(max_examples=examples(60), deadline=None)
@given(st.fixed_dictionaries({"a": LENGTHS, "b": LENGTHS, "c": LENGTHS}))
def test_whole_transactions_in_the_order_of_time_and_source(
    streams: dict[str, list[tuple[int, int]]],
) -> None:
    sources: dict[str, Source] = {}
    for name, transactions in streams.items():
        items = [
            item
            for number, (time_s, statements) in enumerate(transactions)
            for item in transaction(number, time_s, statements)
        ]
        sources[name] = Source([*items, *transaction(99, FAR_S)])
    count = sum(map(len, streams.values()))
    found = transactions_of(read(sources, count))[:count]
    assert found == sorted(found, key=lambda each: (each[2], each[0]))
    for name, transactions in streams.items():
        assert [number for source, number, _ in found if source == name] == list(
            range(len(transactions))
        )


def test_a_heartbeat_of_the_others_lets_one_go_on() -> None:
    heartbeat = Advance(START.binlog, IDENTITY)
    sources = {"a": Source([*transaction(1, 5), *transaction(2, 6)]), "b": Source([heartbeat])}
    found = read(sources, 2)
    assert [number for _, number, _ in transactions_of(found)] == [1, 2]


def test_an_advance_that_moves_is_no_heartbeat_and_goes_its_way() -> None:
    moved = Advance(BinlogPosition("b.000002", 4), IDENTITY)
    found = read({"a": Source(transaction(1, 5)), "b": Source([moved, *transaction(2, 6)])}, 1)
    assert found.index(moved) == found.index(FromSource("b")) + 1
    assert [number for _, number, _ in transactions_of(found)] == [1]


def test_a_transaction_that_is_half_published_goes_first() -> None:
    found = read({"a": Source(transaction(1, 5)), "b": Source(transaction(2, 9))}, 1, first="b")
    assert transactions_of(found)[0] == ("b", 2, 9)


def test_a_source_that_dies_ends_the_reading_behind_what_could_go_on() -> None:
    sources = {
        "a": Source([*transaction(1, 5), *transaction(2, FAR_S)]),
        "b": Source(transaction(3, 6), SourceUnreachable("gone")),
    }
    with pytest.raises(SourceUnreachable, match="Source b: gone"):
        read(sources, 3)


def test_rows_that_a_source_rolled_back_are_those_of_that_source() -> None:
    error = RolledBackRows("rows are gone", [("b.000001", 4, 5, 6)])
    told: list[tuple[str, RolledBackRows]] = []
    streams: Any = {"a": Source([]), "b": Source([], error)}
    buffer = ChangeBuffer(BufferSettings())
    reader = GroupReader(
        "x",
        opened(streams),
        buffer,
        BufferSettings(),
        MergeOrder("ab"),
        TIMES,
        lambda *each: told.append(each),
    )
    reader.start()
    with pytest.raises(BatchAborted, match="Source b rolled rows back"):
        buffer.take(5)
    reader.stop()
    assert told == [("b", error)]


def test_the_name_of_a_source_stands_once_before_a_run_of_its_items() -> None:
    found = read(
        {"a": Source([*transaction(1, 5), *transaction(2, 5)]), "b": Source(transaction(3, 6))}, 2
    )
    names = [each.source for each in found if isinstance(each, FromSource)]
    assert names == [name for name, _ in groupby(names)]


def test_what_is_dated_ahead_of_the_clock_waits_no_longer_than_that_is_allowed() -> None:
    rest = Advance(BinlogPosition("b.000001", 199), IDENTITY)
    sources = {
        "a": Source([*transaction(1, FAR_S), *transaction(2, FAR_S)]),
        "b": Source([*transaction(1, 5), rest]),
    }
    with reading(
        sources, MergeTimes(by_execute_time, 0, -1000, NOW_MS)
    ) as buffer:  # a clock that is late stands for time that passes
        assert [(name, number) for name, number, _ in transactions_of(take(buffer, 3))] == [
            ("b", 1),
            ("a", 1),
            ("a", 2),
        ]


def test_a_clock_that_is_set_back_holds_nothing_back() -> None:
    wall_s, running_s = 2e9, 0.0

    def heartbeats() -> Iterator[RawItem]:
        nonlocal wall_s, running_s
        yield Advance(START.binlog, IDENTITY)
        wall_s, running_s = wall_s - 3600 + 10, running_s + 10
        yield Advance(START.binlog, IDENTITY)

    clock = SteadyClock(lambda: wall_s, lambda: running_s)
    sources = {"a": Source(transaction(1, 2_000_000_005)), "b": Source(heartbeats())}
    with reading(sources, MergeTimes(by_execute_time, 0, 60_000, clock.now_ms)) as buffer:
        assert [name for name, *_ in transactions_of(take(buffer, 1))] == ["a"]


def test_a_source_that_tells_seconds_may_still_bring_something_of_the_second_of_its_heartbeat() -> (
    None
):
    heartbeat, now_s = Advance(START.binlog, IDENTITY), int(time())
    sources = {"a": Source(transaction(1, now_s - 1)), "b": Source([heartbeat])}
    with reading(
        sources, MergeTimes(by_execute_time, 0, 60_000, NOW_MS, whole_seconds="b")
    ) as buffer:
        assert [number for _, number, _ in transactions_of(take(buffer, 1))] == [1]
    sources = {
        "a": Source(transaction(1, now_s + 5)),
        "b": Source([heartbeat, *transaction(2, now_s - 50)]),
    }
    with reading(
        sources, MergeTimes(by_execute_time, 0, 60_000, NOW_MS, whole_seconds="ab")
    ) as buffer:
        assert [name for name, *_ in transactions_of(take(buffer, 1))] == ["b"], "late, and at once"


def test_nothing_of_the_others_goes_before_the_rest_of_a_half_transaction() -> None:
    moved = Advance(BinlogPosition("b.000002", 4), IDENTITY)
    late = Source(transaction(1, 5), before=threading.Event())
    sources = {"a": Source([moved, *transaction(2, 1)]), "b": late}
    with reading(sources, TIMES, first="b") as buffer:
        assert list(buffer.take(0.1)) == []
        late.begin()
        found = take(buffer, 1)
        assert found[0] == FromSource("b")
        assert transactions_of(found)[0] == ("b", 1, 5)


def test_a_heartbeat_goes_on_only_when_all_sources_rest() -> None:
    heartbeat = Advance(START.binlog, IDENTITY)
    busy = Source([heartbeat], before=threading.Event())
    with reading({"a": Source([heartbeat]), "b": busy}, TIMES) as buffer:
        assert list(buffer.take(0.1)) == []
        busy.begin()
        assert list(buffer.take(5)) == [FromSource("b"), heartbeat]


@pytest.mark.slow
def test_a_slow_walk_holds_the_sources_back() -> None:
    settings_of_few = BufferSettings(buffer_size=64, batch_mode="ITEMSIZE")
    handed: list[RawItem] = []

    def many() -> Iterator[RawItem]:
        for number in range(_MANY):
            handed.extend(transaction(number + 1, 5))
            yield from handed[-3:]

    with reading(
        {"a": Source(many()), "b": Source(transaction(1, FAR_S))}, TIMES, settings=settings_of_few
    ) as buffer:
        found = take(buffer, 1)
        with pytest.raises(AssertionError, match="all of them"):
            wait_until(lambda: len(handed) > 3000, "all of them", 1)
        assert (
            len(transactions_of([*found, *take(buffer, _MANY - len(transactions_of(found)))]))
            == _MANY
        )

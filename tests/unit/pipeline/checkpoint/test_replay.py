"""A position moved back gives every transaction the pairs that it had, and goes on above them."""

from dataclasses import replace
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from relay.model.change import Advance, TransactionBegin, TransactionEnd
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_policy import SkipReason

NOW_MS = 1_700_000_000_000
SKEW_MS = 60_000
SERVER = SourceIdentity("", 1, 1)
START = PositionRecord(
    SourcePosition(BinlogPosition("b.000001", 4), "", SERVER),
    OrderPair(0, 0),
    epoch=3,
    change_time_ms=0,
)


class Transaction(NamedTuple):
    """One in the binlog: what it begins with, how many changes it has, where it ends."""

    begin: TransactionBegin
    changes: int
    end: BinlogPosition

    @property
    def gtid(self) -> str:
        return self.begin.gtid


def binlog(parts: list[tuple[int, int, int, bool]]) -> list[Transaction]:
    """Lay transactions one after the other: size, changes, time before now, and whether a new file
    begins.
    """
    file, offset, found = 1, 200, []
    for number, (size, changes, ago_ms, rotate) in enumerate(parts, 1):
        file, offset = (file + 1, 200) if rotate else (file, offset)
        begin = TransactionBegin(
            BinlogPosition(f"b.{file:06}", offset), f"0-1-{number}", NOW_MS - ago_ms, 0
        )
        offset += size
        found.append(Transaction(begin, changes, BinlogPosition(f"b.{file:06}", offset)))
    return found


def published_of(
    record: PositionRecord, transactions: list[Transaction], now_ms: int
) -> tuple[dict[str, tuple[OrderPair, ...]], Progress]:
    """What is published of them, from the record on: pairs by GTID; and how far it got."""
    progress, published = Progress(record, "", MappingName(1)), {}
    for each in transactions:
        progress.start_transaction(each.begin, now_ms, SKEW_MS)
        first = progress.order
        progress.take(each.changes)
        if progress.skip_reason is None:
            published[each.gtid] = tuple(
                OrderPair(first.execute_time, first.execute_position + n + 1)
                for n in range(each.changes)
            )
        progress.end_transaction(TransactionEnd(each.end, each.gtid, SERVER))
    return published, progress


# More changes than bytes, as in a compressed payload; times that go back and forth.
PARTS = st.lists(
    st.tuples(st.integers(40, 400), st.integers(0, 900), st.integers(0, 10**7), st.booleans()),
    min_size=3,
    max_size=12,
)


@given(
    parts=PARTS, fingerprints=st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 11))
)
def test_what_comes_again_has_the_pairs_that_it_had(
    parts: list[tuple[int, int, int, bool]], fingerprints: tuple[int, int, int]
) -> None:
    transactions = binlog(parts)
    kept, target, reached = sorted(place % len(transactions) for place in fingerprints)
    first, progress = published_of(START, transactions[:reached], NOW_MS)
    _, at_kept = published_of(START, transactions[:kept], NOW_MS)
    had = progress.record
    replay = Replay(transactions[target].begin.position, had.source.binlog, had.order)
    moved = replace(at_kept.record, replay=replay if target < reached else None)
    again, after = published_of(moved, transactions[kept:], NOW_MS + 10**9)
    for gtid in again.keys() & first.keys():
        assert again[gtid] == first[gtid]
    if target < reached:
        assert not again.keys() & {each.gtid for each in transactions[:target]}
        assert after.record.replay is None
    assert again.keys() >= {each.gtid for each in transactions[max(target, kept) :]}
    fresh = [pair for each in transactions[reached:] for pair in again[each.gtid]]
    assert all(
        pair.execute_time >= had.order.execute_time
        and pair.execute_position > had.order.execute_position
        for pair in fresh
    )


def test_no_pair_of_a_replay_lies_above_the_last_one_that_was_published() -> None:
    """A change dated beyond the accepted skew was held down by the relay's clock of then, which
    nobody knows now.
    """
    transactions = binlog([(100, 3, -(10**9), False), (100, 3, 0, False), (100, 3, 0, False)])
    first, progress = published_of(START, transactions[:2], NOW_MS)
    assert first["0-1-1"][0].execute_time == NOW_MS + SKEW_MS
    had = progress.record
    moved = replace(
        START, replay=Replay(transactions[0].begin.position, had.source.binlog, had.order)
    )
    again, _ = published_of(moved, transactions, NOW_MS + 10**9)
    assert again["0-1-1"] == first["0-1-1"]
    assert again["0-1-2"] == first["0-1-2"]


def test_a_replay_ends_by_a_rotation_as_well() -> None:
    replay = Replay(BinlogPosition("b.000001", 4), BinlogPosition("b.000001", 900), OrderPair(5, 6))
    progress = Progress(replace(START, replay=replay), "", MappingName(1))
    records = []
    for place in (BinlogPosition("b.000001", 800), BinlogPosition("b.000002", 4)):
        progress.advance(Advance(place, SERVER))
        records.append(progress.record)
    assert [(each.replay, each.order) for each in records] == [
        (replay, OrderPair(0, 0)),
        (None, OrderPair(5, 6)),
    ]


def test_a_skip_is_forgotten_once_it_is_passed_and_takes_its_pairs_along() -> None:
    transactions = binlog([(100, 2, 0, False), (100, 3, 0, False), (100, 4, 0, False)])
    plain, _ = published_of(START, transactions, NOW_MS)
    left, progress = published_of(replace(START, skips=("0-1-2", "0-1-9")), transactions, NOW_MS)
    assert left == {gtid: pairs for gtid, pairs in plain.items() if gtid != "0-1-2"}
    assert progress.record.skips == ("0-1-9",)
    assert progress.skip_reason is None


def test_why_a_transaction_is_left_out() -> None:
    replay = Replay(
        BinlogPosition("b.000001", 500), BinlogPosition("b.000001", 900), OrderPair(0, 0)
    )
    progress = Progress(replace(START, replay=replay, skips=("0-1-2",)), "", MappingName(1))
    seen = []
    for number, offset in ((1, 400), (2, 500), (3, 600)):
        place = BinlogPosition("b.000001", offset)
        progress.start_transaction(
            TransactionBegin(place, f"0-1-{number}", NOW_MS, 0), NOW_MS, SKEW_MS
        )
        seen.append(progress.skip_reason)
        progress.end_transaction(
            TransactionEnd(BinlogPosition("b.000001", offset + 100), f"0-1-{number}", SERVER)
        )
    assert seen == [SkipReason.BEFORE, SkipReason.SKIPPED, None]

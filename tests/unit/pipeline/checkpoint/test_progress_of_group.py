"""Positions of several sources in one record, and one order that rises over all of them."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from relay.model.change import Advance, TransactionBegin, TransactionEnd
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_policy import SkipReason

FILES = {"first": 7, "second": 900, "third": 899_999}
STARTS = {
    name: SourcePosition(BinlogPosition(f"b.{at:06d}", 4), "", SourceIdentity("", at, 1))
    for at, name in enumerate(FILES)
}
OTHERS = {name: OtherSource(STARTS[name]) for name in ("second", "third")}
RECORD = PositionRecord(
    STARTS["first"], OrderPair(0, 0), epoch=0, change_time_ms=0, following="first", others=OTHERS
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(list(FILES)), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9)
    ),
    max_size=20,
)


def place(name: str, file: int, number: int) -> BinlogPosition:
    return BinlogPosition(f"b.{FILES[name] + file:06d}", 100 * (number + 1))


@given(STEPS)
def test_positions_are_kept_apart_and_the_pair_never_goes_back(
    steps: list[tuple[str, int, int, int]],
) -> None:
    progress = Progress(RECORD, "", MappingName(1))
    reached = {name: position.binlog for name, position in STARTS.items()}
    pairs = [progress.order]
    for number, (name, rows, file, time_s) in enumerate(steps):
        progress.follow(name)
        begin, end = (
            place(name, file, number),
            place(name, file, number)._replace(offset=100 * (number + 1) + 50),
        )
        progress.start_transaction(TransactionBegin(begin, "", None, time_s), 10**12, 0)
        for _ in range(rows):
            progress.take(1)
            pairs.append(progress.order)
        progress.end_transaction(TransactionEnd(end, "", STARTS[name].identity))
        reached[name] = end
        assert PositionRecord.from_bytes(progress.record.to_bytes()) == progress.record
    assert {
        name: position.binlog for name, position in progress.record.positions.items()
    } == reached
    assert all(
        after.execute_position > before.execute_position for before, after in pairwise(pairs)
    )
    assert all(after.execute_time >= before.execute_time for before, after in pairwise(pairs))


def test_gtids_are_those_of_each_source() -> None:
    progress = Progress(RECORD, "", MappingName(1))
    for name, gtid in (("first", "0-1-5"), ("second", "0-9-77"), ("first", "0-1-6")):
        progress.follow(name)
        progress.start_transaction(TransactionBegin(place(name, 0, 1), gtid, None, 1), 10**12, 0)
        progress.take(1)
        progress.end_transaction(TransactionEnd(place(name, 0, 2), gtid, STARTS[name].identity))
    assert {name: position.gtid_set for name, position in progress.record.positions.items()} == {
        "first": "0-1-6",
        "second": "0-9-77",
        "third": "",
    }


def test_a_transaction_is_skipped_of_its_own_source_alone() -> None:
    skipping = replace(
        RECORD,
        skips=("0-1-9",),
        others={**OTHERS, "second": OtherSource(STARTS["second"], skips=("0-1-5", "0-1-9"))},
    )
    progress = Progress(skipping, "", MappingName(1))
    found: list[bool | SkipReason | None] = []
    for name, gtid in (
        ("first", "0-1-5"),
        ("second", "0-1-5"),
        ("third", "0-1-5"),
        ("first", "0-1-9"),
    ):
        progress.follow(name)
        found.append(progress.leaves_nothing_out)
        progress.start_transaction(TransactionBegin(place(name, 0, 1), gtid, None, 1), 10**12, 0)
        found.append(progress.skip_reason)
        progress.take(1)
        progress.end_transaction(TransactionEnd(place(name, 0, 2), gtid, STARTS[name].identity))
    assert found == [False, None, False, SkipReason.SKIPPED, True, None, False, SkipReason.SKIPPED]
    assert {name: each.skips for name, each in progress.record.standing.items()} == {
        "first": (),
        "second": ("0-1-9",),
        "third": (),
    }
    assert progress.order.execute_position - RECORD.order.execute_position > 3


def test_a_heartbeat_is_one_of_its_own_source() -> None:
    progress = Progress(RECORD, "", MappingName(1))
    progress.follow("second")
    idle = []
    for position in (STARTS["second"].binlog, place("second", 0, 1)):
        progress.advance(Advance(position, STARTS["second"].identity))
        idle.append(progress.source_idle)
    assert idle == [True, False]
    assert progress.record.positions["first"] == STARTS["first"]
    assert progress.record.positions["second"].binlog == place("second", 0, 1)


def test_names_are_followed_for_those_sources_that_need_it() -> None:
    progress = Progress(RECORD, "", MappingName(1), follows_names=["second"])
    assert {name: each.names for name, each in progress.record.others.items()} == {
        "second": STARTS["second"],
        "third": None,
    }
    progress.follow("second")
    progress.advance(Advance(place("second", 1, 1), STARTS["second"].identity))
    progress.follow("third")
    progress.advance(Advance(place("third", 1, 1), STARTS["third"].identity))
    record = progress.record
    assert record.names is None
    assert {name: each.names and each.names.binlog for name, each in record.others.items()} == {
        "first": None,
        "second": place("second", 1, 1),
    }

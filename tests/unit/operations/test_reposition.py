"""What a wish for another position makes of the record."""

from dataclasses import replace

import pytest

from relay.errors import MoveRefused
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay, SplitProgress
from relay.operations.positions.lost_changes import loses_changes, requested_copies, with_copy
from relay.operations.positions.preview import Preview
from relay.operations.positions.repositioning import (
    RepositionKind,
    plan_reposition,
    raise_floor,
    skip,
    unskip,
)
from relay.order import MAX_EPOCH, begin_transaction, compose
from relay.source import TransactionPosition

SERVER, OTHER = SourceIdentity("", 1, 1), SourceIdentity("", 2, 1)

_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


def place(file: int, offset: int, server: SourceIdentity = SERVER) -> SourcePosition:
    return SourcePosition(
        BinlogPosition(f"b.{file:06}", offset), f"0-1-{file * 1000 + offset}", server
    )


def record(file: int, offset: int, order: tuple[int, int], epoch: int = 3) -> PositionRecord:
    return PositionRecord(
        place(file, offset), OrderPair(*order), epoch, change_time_ms=order[0], partitions={"t": 4}
    )


NOW = record(2, 500, (90, 9000))
WAYPOINTS = (
    record(1, 900, (80, 8000)),
    record(1, 300, (70, 7000)),
    record(2, 100, (85, 8500)),
    record(1, 4, (1, 1), epoch=2),
)


def test_forward_opens_an_epoch_and_keeps_the_pair() -> None:
    move = plan_reposition(NOW, place(3, 4), WAYPOINTS, as_new=False, latest_ms=0)
    assert (move.kind, move.after) == (
        RepositionKind.FORWARD,
        replace(NOW, source=place(3, 4), epoch=4),
    )


def test_back_reads_from_the_nearest_known_pair_and_publishes_from_the_place() -> None:
    move = plan_reposition(NOW, place(1, 950), WAYPOINTS, as_new=False, latest_ms=0)
    replay = Replay(place(1, 950).binlog, NOW.source.binlog, NOW.order)
    assert move.kind is RepositionKind.BACK
    assert move.after == replace(
        NOW, source=place(1, 900), order=OrderPair(80, 8000), change_time_ms=80, replay=replay
    )


def test_back_as_new_keeps_the_pair_and_opens_an_epoch() -> None:
    move = plan_reposition(NOW, place(1, 4), WAYPOINTS, as_new=True, latest_ms=0)
    assert (move.kind, move.after) == (
        RepositionKind.AS_NEW,
        replace(NOW, source=place(1, 4), epoch=4),
    )


def test_back_within_a_replay_goes_on_to_where_the_instance_had_been() -> None:
    once = plan_reposition(NOW, place(1, 950), WAYPOINTS, as_new=False, latest_ms=0).after
    twice = plan_reposition(once, place(1, 400), WAYPOINTS, as_new=False, latest_ms=0).after
    assert twice.source == place(1, 300)
    assert twice.replay == Replay(place(1, 400).binlog, NOW.source.binlog, NOW.order)


def test_a_replay_is_ended_by_going_forward_above_all_that_was_published() -> None:
    once = plan_reposition(NOW, place(1, 950), WAYPOINTS, as_new=False, latest_ms=0).after
    ended = plan_reposition(once, place(2, 500), WAYPOINTS, as_new=False, latest_ms=0)
    assert (ended.kind, ended.after) == (
        RepositionKind.FORWARD,
        replace(NOW, epoch=4, change_time_ms=80),
    )


def test_what_is_half_published_is_not_half_published_any_more() -> None:
    split = replace(NOW, split=SplitProgress(NOW.source.binlog, "0-1-1", 7, 95, 1, ""))
    for target, as_new in ((place(3, 4), False), (place(1, 950), False), (place(1, 950), True)):
        assert (
            plan_reposition(split, target, WAYPOINTS, as_new=as_new, latest_ms=0).after.split
            is None
        )


@pytest.mark.parametrize(
    ("start", "target", "reason"),
    [
        (NOW, place(2, 500), "already"),
        (NOW, place(1, 4), "is known is b.000001:300"),
        (replace(NOW, epoch=7), place(1, 950), "no older order key of this epoch is known"),
        (NOW, place(2, 600, OTHER), "another server"),
        (None, place(1, 4), "no position record"),
    ],
)
def test_what_cannot_be_done_as_asked_is_refused(
    start: PositionRecord | None, target: SourcePosition, reason: str
) -> None:
    with pytest.raises(MoveRefused, match=reason):
        plan_reposition(start, target, WAYPOINTS, as_new=False, latest_ms=0)


def test_another_server_is_taken_as_new() -> None:
    move = plan_reposition(NOW, place(1, 4, OTHER), WAYPOINTS, as_new=True, latest_ms=0)
    assert (move.kind, move.after.source, move.after.order, move.after.epoch) == (
        RepositionKind.AS_NEW,
        place(1, 4, OTHER),
        NOW.order,
        4,
    )


def test_without_a_record_the_clock_is_the_floor() -> None:
    move = plan_reposition(None, place(1, 4), (), as_new=True, latest_ms=5000)
    assert (move.after.order, move.after.epoch) == (OrderPair(5000, 0), 1)


def test_the_last_epoch_stays_the_last() -> None:
    assert (
        plan_reposition(
            replace(NOW, epoch=MAX_EPOCH), place(3, 4), (), as_new=False, latest_ms=0
        ).after.epoch
        == MAX_EPOCH
    )


def test_no_pair_goes_below_those_of_what_was_half_published() -> None:
    split = replace(NOW, split=SplitProgress(NOW.source.binlog, "0-1-1", 7, 95, 1, ""))
    assert plan_reposition(
        split, place(1, 4), WAYPOINTS, as_new=True, latest_ms=0
    ).after.order == OrderPair(95, 9000)


def test_the_floor_rises_in_both_halves() -> None:
    assert raise_floor(NOW, OrderPair(50, 9999)).order == OrderPair(90, 9999)
    assert raise_floor(NOW, OrderPair(99, 1)).order == OrderPair(99, 9000)


@pytest.mark.parametrize("epoch", [0, 3, 7])
def test_the_next_transaction_after_a_raise_has_keys_above_the_floor(epoch: int) -> None:
    floor = OrderPair(90, compose(epoch, BinlogPosition("b.000900", 7)))
    raised = raise_floor(NOW, floor)
    coming = place(2, 600).binlog
    first = begin_transaction(raised.order, raised.epoch, coming, 90, 10**15)
    assert first.execute_position == compose(raised.epoch, coming) - 1 > floor.execute_position


def test_a_move_back_over_a_raised_floor_cannot_keep_order_keys() -> None:
    """Before the raise nothing tells that rows after it have order keys above the floor."""
    raised = raise_floor(NOW, OrderPair(50, 9999))
    later = replace(raised, source=place(2, 900), order=OrderPair(95, 9999 + 5))
    with pytest.raises(MoveRefused, match="no older order key of this epoch is known"):
        plan_reposition(later, place(1, 950), WAYPOINTS, as_new=False, latest_ms=0)


def test_a_floor_that_is_high_enough_or_cannot_rise_now_is_refused() -> None:
    with pytest.raises(MoveRefused, match="already"):
        raise_floor(NOW, OrderPair(90, 9000))
    with pytest.raises(MoveRefused, match="published"):
        raise_floor(
            replace(NOW, split=SplitProgress(NOW.source.binlog, "0-1-1", 7, 95, 1, "")),
            OrderPair(99, 9999),
        )
    replaying = plan_reposition(NOW, place(1, 950), WAYPOINTS, as_new=False, latest_ms=0).after
    with pytest.raises(MoveRefused, match=r"publishing rows up to b\.000002:500 again"):
        raise_floor(replaying, OrderPair(99, 9999))


def test_a_skip_is_one_coming_transaction() -> None:
    gtid = "3E11FA47-71CA-11E1-9E33-C80AA9429562:78"
    skipping = skip(NOW, gtid)
    assert skipping.skips == (gtid.lower(),)
    assert unskip(skipping, gtid) == NOW
    refused = {
        "already": (skipping, gtid),
        "one transaction": (NOW, f"{gtid}-80"),
        "before the position": (NOW, "0-1-7"),
        "not a GTID": (NOW, "x"),
    }
    for reason, (start, wanted) in refused.items():
        with pytest.raises(MoveRefused, match=reason):
            skip(start, wanted)
    with pytest.raises(MoveRefused, match="not on the skip list"):
        unskip(NOW, gtid)


@pytest.mark.parametrize(
    ("target", "files", "as_new", "lost"),
    [
        (place(3, 4), {"b.000003": 900}, False, True),
        (place(3, 4), {"b.000002": 900, "b.000003": 900}, False, False),
        (place(3, 4), {"b.000002": 499, "b.000003": 900}, False, True),
        (place(2, 600, replace(SERVER, file_created_s=2)), {"b.000002": 900}, False, True),
        (place(3, 4, OTHER), {"b.000002": 900, "b.000003": 900}, True, True),
        (place(1, 4), {"b.000001": 900, "b.000002": 900}, True, False),
        (place(1, 950), {"b.000001": 999}, False, False),
    ],
)
def test_changes_are_lost_where_the_source_cannot_show_what_follows_the_former_position(
    target: SourcePosition, files: dict[str, int], *, as_new: bool, lost: bool
) -> None:
    move = plan_reposition(NOW, target, WAYPOINTS, as_new=as_new, latest_ms=0)
    created_s = target.identity.file_created_s
    assert loses_changes(move, TransactionPosition(target, files), lambda _: created_s) is lost


def test_changes_are_lost_where_the_file_of_the_former_position_was_made_again() -> None:
    """RESET MASTER begins with the same names again; the newer file may be longer."""
    move = plan_reposition(NOW, place(3, 4), WAYPOINTS, as_new=False, latest_ms=0)
    there = TransactionPosition(place(3, 4), {"b.000002": 900, "b.000003": 900})
    known_s = NOW.source.identity.file_created_s
    assert not loses_changes(move, there, lambda _: known_s)
    assert loses_changes(move, there, lambda _: known_s + 1)


def test_a_move_without_a_record_loses_what_nobody_knows_and_asks_for_a_copy() -> None:
    move = plan_reposition(None, place(3, 4), (), as_new=True, latest_ms=0)
    assert loses_changes(move, TransactionPosition(place(3, 4), {"b.000003": 900}), lambda _: 0)
    assert requested_copies(move) == []
    [number] = requested_copies(with_copy(move, 0.0))
    assert number.startswith("needed-19700101-000000-")


def test_a_part_of_the_binlog_is_counted_in_files_and_transactions() -> None:
    files = {"b.000002": 900, "b.000003": 900, "b.000004": 900}
    there = TransactionPosition(place(4, 4), files)
    assert there.files_from(BinlogPosition("b.000002", 500)) == 3
    assert there.files_from(BinlogPosition("b.000004", 800)) == 1
    assert there.files_from(BinlogPosition("b.000001", 4)) is None
    move = plan_reposition(None, place(4, 4), (), as_new=True, latest_ms=0)
    for gtids, transactions in ((f"{_UUID}:3-5", 3), ("0-1-7", None), ("", None)):
        assert Preview(move, None, 1, gtids).transactions == transactions

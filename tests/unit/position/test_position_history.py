"""Older positions that are kept, so that a replay begins where pairs are known."""

from dataclasses import replace

from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay, SplitProgress
from relay.position.position_history import HistorySchedule

PLACE = BinlogPosition("mysql-bin.000042", 4711)
RECORD = PositionRecord(SourcePosition(PLACE, "", SourceIdentity("", 1, 0)), OrderPair(5, 6), 0, 5)
SPLIT = replace(RECORD, split=SplitProgress(PLACE, "", 12, 5, 3, ""))
BY_HAND = replace(
    RECORD, replay=Replay(PLACE, BinlogPosition("mysql-bin.000043", 9), OrderPair(7, 8))
)


def test_an_entry_is_kept_once_a_minute_and_once_an_hour() -> None:
    clock, hour_ms = HistorySchedule(), 3_600_000
    assert clock.due(RECORD, hour_ms) == ["m0060", "h0001"]
    assert clock.due(RECORD, hour_ms + 59_999) == []
    assert clock.due(RECORD, hour_ms + 60_000) == ["m0061"]
    assert clock.due(SPLIT, 2 * hour_ms) == []
    assert clock.due(BY_HAND, 2 * hour_ms) == []
    assert clock.due(RECORD, 2 * hour_ms) == ["m0120", "h0002"]
    assert clock.due(RECORD, (24 * 60 + 1) * 60_000) == ["m0001", "h0024"]

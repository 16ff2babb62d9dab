"""The position record's formats: every former one is read, a newer one is refused by name, and the oldest that suffices is written."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.position import PositionRecord, Replay, SplitProgress
from relay.position.record import FORMAT
from relay.position.waypoints import WaypointClock

_GOLDEN = Path(__file__).parents[2] / "golden"
_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
PLACE = BinlogPosition("mysql-bin.000042", 4711)
RECORD = PositionRecord(
    source=SourcePosition(PLACE, f"{_UUID}:1-77", SourceIdentity(_UUID, 1, 1_700_000_000)),
    order=OrderPair(1_700_000_000_123, 180388626501),
    epoch=0,
    change_time_ms=1_700_000_000_000,
    partitions={"orders": 4},
)
SPLIT = replace(RECORD, split=SplitProgress(PLACE, f"{_UUID}:78", 12, 1_700_000_000_500, 3, "0123456789abcdef"))
BY_HAND = replace(RECORD, replay=Replay(PLACE, BinlogPosition("mysql-bin.000043", 9), OrderPair(7, 8)), skips=(f"{_UUID}:80",))
FORMER = {
    "position_record.1.mapping_set.json": replace(RECORD, mapping_set=7),
    "position_record.1.json": RECORD,
    "position_record.1.split.json": SPLIT,
    "position_record.2.json": BY_HAND,
}


@pytest.mark.parametrize(("file", "record"), FORMER.items(), ids=list(FORMER))
def test_every_format_that_was_ever_written_is_read(file: str, record: PositionRecord) -> None:
    assert PositionRecord.from_bytes((_GOLDEN / file).read_bytes()) == record


def test_a_golden_record_stands_for_every_format() -> None:
    assert {orjson.loads((_GOLDEN / file).read_bytes())["format"] for file in FORMER} == set(range(1, FORMAT + 1))


@pytest.mark.parametrize(("file", "record"), FORMER.items(), ids=list(FORMER))
def test_the_oldest_format_that_suffices_is_written(file: str, record: PositionRecord) -> None:
    """A relay of the version before reads it: all that it knows is there, and what came later it passes over."""
    former, written = orjson.loads((_GOLDEN / file).read_bytes()), orjson.loads(record.to_bytes())
    assert written | former == written
    assert written.keys() - former.keys() <= {"mapping_set"}


def test_a_newer_format_is_refused_by_name() -> None:
    newer = RECORD.to_bytes().replace(b'"format":1', b'"format":%d' % (FORMAT + 1))
    with pytest.raises(PositionNewer, match=f"format {FORMAT + 1}"):
        PositionRecord.from_bytes(newer)


@pytest.mark.parametrize("value", [b"", b"{}", b"[]", b'{"format":1}', b'{"format":"1"}', b"\xff"])
def test_what_is_no_record_is_refused(value: bytes) -> None:
    with pytest.raises(PositionUnreadable):
        PositionRecord.from_bytes(value)


def test_waypoints_are_kept_once_a_minute_and_once_an_hour() -> None:
    clock, hour_ms = WaypointClock(), 3_600_000
    assert clock.due(RECORD, hour_ms) == ["m0060", "h0001"]
    assert clock.due(RECORD, hour_ms + 59_999) == []
    assert clock.due(RECORD, hour_ms + 60_000) == ["m0061"]
    assert clock.due(SPLIT, 2 * hour_ms) == []
    assert clock.due(BY_HAND, 2 * hour_ms) == []
    assert clock.due(RECORD, 2 * hour_ms) == ["m0120", "h0002"]
    assert clock.due(RECORD, (24 * 60 + 1) * 60_000) == ["m0001", "h0024"]

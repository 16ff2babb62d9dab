"""The position record's formats: every former one is read, a newer one is refused by name, and the
oldest that suffices is written.
"""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from relay.errors import PositionNewer, PositionUnreadable
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import (
    BinlogPosition,
    LastTransaction,
    OrderPair,
    SourceIdentity,
    SourcePosition,
)
from relay.model.records.position_record import (
    FORMAT,
    OtherSource,
    PositionRecord,
    Replay,
    SplitProgress,
)
from relay.model.records.resume_fingerprint import Landmark, ResumeFingerprint
from relay.model.records.snapshot_progress import SnapshotProgress, mark
from relay.model.records.transaction_report import TransactionReport

_GOLDEN = Path(__file__).parents[2] / "golden" / "position_records"
_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
PLACE = BinlogPosition("mysql-bin.000042", 4711)
RECORD = PositionRecord(
    source=SourcePosition(PLACE, f"{_UUID}:1-77", SourceIdentity(_UUID, 1, 1_700_000_000)),
    order=OrderPair(1_700_000_000_123, 180388626501),
    epoch=0,
    change_time_ms=1_700_000_000_000,
    partitions={"orders": 4},
)
HALF = SplitProgress(PLACE, f"{_UUID}:78", 12, 1_700_000_000_500, 3, "0123456789abcdef")
SPLIT = replace(RECORD, split=HALF)
BY_HAND = replace(
    RECORD,
    replay=Replay(PLACE, BinlogPosition("mysql-bin.000043", 9), OrderPair(7, 8)),
    skips=(f"{_UUID}:80",),
)
ELSEWHERE = SourcePosition(PLACE, "", SourceIdentity("", 9, 0))
OF_A_GROUP = replace(
    SPLIT,
    following="first",
    others={"second": OtherSource(ELSEWHERE, ELSEWHERE), "third": OtherSource(ELSEWHERE)},
)
_SKIPPING = OtherSource(ELSEWHERE, skips=("0-9-80", "0-9-90"))
GROUP_BY_HAND = replace(
    OF_A_GROUP, skips=(f"{_UUID}:80",), others={**OF_A_GROUP.others, "third": _SKIPPING}
)
LANDMARK = Landmark(1_700_000_000, "0f" * 16, "1e" * 16)
BY_DIGEST = replace(
    RECORD,
    place=ResumeFingerprint(1_700_000_000, (1_700_000_090,), LANDMARK, 2, "2d" * 16, "3c" * 16),
)
DIGEST = "5a" * 16
NAMED = replace(
    BY_HAND,
    mapping_set=7,
    mapping_digest=DIGEST,
    kept_mappings={DIGEST: 1},
    placed_by={"orders": "6b" * 8},
)
IN_PARTS = replace(
    NAMED,
    split=replace(HALF, mapping_digest="4b" * 16, without_rolled_back=True),
    kept_mappings={DIGEST: 1, "4b" * 16: 2},
)
COPYING = replace(
    RECORD,
    snapshots={
        "20260102-030405-ab12": SnapshotProgress(
            "shop.orders",
            ("id",),
            ("varchar(9) utf8mb4_bin",),
            ("4711",),
            rows=4000,
            tables=2,
            finished=(mark("shop.a"), mark("shop.b")),
        ),
        "20260102-030405-cd34": SnapshotProgress(
            "shop.user", rows=9, tables=1, finished=(mark("shop.user"),), done=True
        ),
    },
)
REPORT = TransactionReport(
    f"shop:{_UUID}:81:193274", OrderPair(7, 193275), OrderPair(7, 193290), {"shop": {"orders": 12}}
)
REPORTED = replace(
    IN_PARTS,
    split=replace(HALF, mapping_digest="4b" * 16, without_rolled_back=True, report=REPORT),
)
FORMED = replace(NAMED, hashed_forms={"orders": {"shop.orders": ("latin1", "?"), "a.b": ("utf8",)}})
OVERLAPPING = replace(RECORD, second_id=True)
BY_LATIN_TEXT = replace(
    RECORD,
    snapshots={
        "20260102-030405-ab12": SnapshotProgress(
            "shop.orders",
            ("name",),
            ("varchar(9) latin1_swedish_ci",),
            ("latin1:C4",),
            rows=2,
            other_keys=('["shop.orders","Äx"]',),
        )
    },
)
FORMER = {
    "position_record.1.mapping_set.json": replace(RECORD, mapping_set=7),
    "position_record.1.json": RECORD,
    "position_record.1.place.json": BY_DIGEST,
    "position_record.1.split.json": SPLIT,
    "position_record.2.json": BY_HAND,
    "position_record.3.json": OF_A_GROUP,
    "position_record.4.json": GROUP_BY_HAND,
    "position_record.5.json": NAMED,
    "position_record.5.split.json": IN_PARTS,
    "position_record.6.json": COPYING,
    "position_record.7.split.json": REPORTED,
    "position_record.8.json": FORMED,
    "position_record.9.json": OVERLAPPING,
    "position_record.10.json": BY_LATIN_TEXT,
}


@pytest.mark.parametrize(("file", "record"), FORMER.items(), ids=list(FORMER))
def test_every_format_that_was_ever_written_is_read(file: str, record: PositionRecord) -> None:
    assert PositionRecord.from_bytes((_GOLDEN / file).read_bytes()) == record


def test_the_last_transaction_of_each_source_is_kept_and_no_reason_for_a_newer_format() -> None:
    """A relay that does not know it ignores it, and compares nothing."""
    last = LastTransaction(PLACE._replace(offset=4000), f"{_UUID}:77", "4b" * 16)
    elsewhere = OtherSource(replace(ELSEWHERE, last=last), ELSEWHERE)
    record = replace(
        OF_A_GROUP, source=replace(RECORD.source, last=last), others={"second": elsewhere}
    )
    written = record.to_bytes()
    again = PositionRecord.from_bytes(written)
    assert (again.source.last, again.others["second"].source.last) == (last, last)
    assert again.others["second"].names is not None
    assert again.others["second"].names.last is None
    assert orjson.loads(written)["format"] == OF_A_GROUP.format
    assert b'"last"' not in OF_A_GROUP.to_bytes()
    assert replace(RECORD.source, last=last) == RECORD.source  # the same place


def test_a_golden_record_stands_for_every_format() -> None:
    assert {orjson.loads((_GOLDEN / file).read_bytes())["format"] for file in FORMER} == set(
        range(1, FORMAT + 1)
    )


@pytest.mark.parametrize(("file", "record"), FORMER.items(), ids=list(FORMER))
def test_the_oldest_format_that_suffices_is_written(file: str, record: PositionRecord) -> None:
    """A relay of the version before reads it: all that it knows is there, and what came later it
    passes over.
    """
    former, written = orjson.loads((_GOLDEN / file).read_bytes()), orjson.loads(record.to_bytes())
    assert written | former == written
    assert written.keys() - former.keys() <= {"mapping_set"}


def test_a_group_needs_the_newest_format_only_while_something_of_one_source_is_to_be_skipped() -> (
    None
):
    third = replace(OF_A_GROUP, others=GROUP_BY_HAND.others)
    assert [
        each.format
        for each in (OF_A_GROUP, third, GROUP_BY_HAND, replace(GROUP_BY_HAND, others={}))
    ] == [3, 4, 4, 4]


def test_progress_of_snapshots_needs_the_newest_format_and_history_entries_have_none() -> None:
    assert (COPYING.format, COPYING.as_history_entry) == (6, RECORD)
    assert b"paused" not in COPYING.to_bytes()
    paused = replace(RECORD, snapshots={"initial-1-a": SnapshotProgress(paused=True)})
    assert (paused.format, PositionRecord.from_bytes(paused.to_bytes())) == (8, paused)


def test_keys_that_name_their_set_or_were_found_in_another_spelling_need_format_10() -> None:
    """An older relay takes the name of the set for bytes, or does not know the field."""
    (name,) = BY_LATIN_TEXT.snapshots
    progress = BY_LATIN_TEXT.snapshots[name]

    def format_with(after: tuple[str, ...], other_keys: tuple[str, ...] = ()) -> int:
        kept = replace(progress, after=after, other_keys=other_keys)
        return replace(RECORD, snapshots={name: kept}).format

    assert (BY_LATIN_TEXT.format, BY_LATIN_TEXT.as_history_entry) == (10, RECORD)
    assert format_with(progress.after) == format_with(("C384",), progress.other_keys) == 10
    plain = [("C384",), ("12:30:00",), ("2026-01-02 03:04:05",), ("fe80::ab",), ()]
    assert {format_with(each) for each in plain} == {6}
    assert b"other_keys" not in COPYING.to_bytes()


def test_a_second_id_needs_the_newest_format_and_history_entries_have_none() -> None:
    assert (OVERLAPPING.format, OVERLAPPING.as_history_entry) == (9, RECORD)
    assert b"second_id" not in RECORD.to_bytes()


def test_the_highest_number_of_a_set_is_kept_when_a_record_names_a_lower_one() -> None:
    lower, higher = MappingName(2, "4b" * 16), MappingName(8, "4b" * 16)
    kept = NAMED.under(lower)
    assert (kept.mapping, kept.highest_number) == (lower, 7)
    assert PositionRecord.from_bytes(kept.to_bytes()) == kept
    assert (kept.format, kept.as_history_entry.highest_set) == (5, 0)
    assert kept.under(MappingName(3, DIGEST)).highest_number == 7
    assert kept.under(higher) == replace(NAMED, mapping_set=8, mapping_digest="4b" * 16)
    assert b"highest_set" not in NAMED.under(NAMED.mapping).to_bytes()
    half = replace(IN_PARTS, split=replace(HALF, mapping_set=9)).under(lower)
    assert replace(half, split=None).highest_number == 9, "its rows are published under set 9"


def test_a_mapping_digest_needs_the_newest_format_and_history_entries_have_none() -> None:
    assert [each.format for each in (NAMED, NAMED.as_history_entry, IN_PARTS)] == [5, 2, 5]
    for field in ("mapping_digest", "kept_mappings", "placed_by"):
        assert replace(NAMED.as_history_entry, **{field: getattr(NAMED, field)}).format == 5
    assert replace(IN_PARTS, mapping_digest="", kept_mappings={}).format == 5, (
        "an older relay must not end the transaction"
    )
    assert NAMED.as_history_entry == replace(BY_HAND, mapping_set=7)
    assert IN_PARTS.named_mappings == {DIGEST, "4b" * 16}


def test_one_source_stands_elsewhere_and_the_others_where_they_stood() -> None:
    there = OtherSource(replace(ELSEWHERE, gtid_set="0-9-1"), skips=("0-9-7",))
    for name in ("first", "second", "fourth"):
        moved = OF_A_GROUP.with_source(name, there)
        assert moved.standing == {**OF_A_GROUP.standing, name: there}
        assert moved.split == OF_A_GROUP.split
    assert RECORD.with_source("", there).standing == {"": there}


def test_a_record_tells_whether_something_is_asked_of_rows() -> None:
    asked = replace(RECORD, rows="digest")
    assert PositionRecord.from_bytes(asked.to_bytes()) == asked
    assert orjson.loads(asked.to_bytes())["format"] == 1, (
        "a relay of the version before passes over it"
    )
    assert "rows" not in orjson.loads(RECORD.to_bytes())


def test_a_newer_format_is_refused_by_name() -> None:
    newer = RECORD.to_bytes().replace(b'"format":1', b'"format":%d' % (FORMAT + 1))
    with pytest.raises(PositionNewer, match=f"format {FORMAT + 1}"):
        PositionRecord.from_bytes(newer)


@pytest.mark.parametrize("value", [b"", b"{}", b"[]", b'{"format":1}', b'{"format":"1"}', b"\xff"])
def test_what_is_no_record_is_refused(value: bytes) -> None:
    with pytest.raises(PositionUnreadable):
        PositionRecord.from_bytes(value)


def test_a_split_that_counts_kept_rows_alone_is_of_the_newest_format() -> None:
    """Without a mapping set nothing else tells it from one that a former version wrote."""
    kept = replace(RECORD, split=replace(HALF, without_rolled_back=True))
    assert (SPLIT.format, kept.format) == (1, 5)
    assert PositionRecord.from_bytes(kept.to_bytes()) == kept
    assert PositionRecord.from_bytes(SPLIT.to_bytes()) == SPLIT


def test_formats_of_topics_are_kept_and_no_reason_for_a_newer_format() -> None:
    """An older relay ignores them, and compares nothing."""
    record = replace(RECORD, formats={"orders": "avro"})
    assert record.format == RECORD.format
    assert PositionRecord.from_bytes(record.to_bytes()) == record
    assert b"formats" not in RECORD.to_bytes()
    assert record.as_history_entry.formats == {}

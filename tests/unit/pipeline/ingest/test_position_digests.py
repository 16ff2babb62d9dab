"""The fingerprints of a stream, noted while it is read and asked for at each commit."""

from relay.model.change import Advance, RawItem, Statement, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.model.records.resume_fingerprint import ResumeFingerprint
from relay.pipeline.ingest.position_digests import FingerprintRecorder

_IDENTITY = SourceIdentity("", 1, 0)


def at(offset: int) -> BinlogPosition:
    return BinlogPosition("b.000001", offset)


def transaction(offset: int, second: int, *, changes: bool = True) -> list[RawItem]:
    items = [Statement("ALTER TABLE t ADD c INT", "d", second, at(offset))] if changes else []
    return [
        TransactionBegin(at(offset), "", None, second),
        *items,
        TransactionEnd(at(offset + 10), "", _IDENTITY),
    ]


def fingerprints(known: ResumeFingerprint | None = None) -> FingerprintRecorder:
    record = PositionRecord(
        SourcePosition(at(4), "", _IDENTITY), OrderPair(0, 0), 0, 0, place=known
    )
    return FingerprintRecorder(at(4), record, 60, clock=lambda: 1000)


def passed(noted: FingerprintRecorder, *items: RawItem) -> None:
    assert list(noted.followed(iter(items))) == list(items)


def test_a_place_is_known_for_every_end_that_was_passed() -> None:
    noted = fingerprints()
    passed(
        noted,
        *transaction(10, 1001),
        *transaction(20, 1002),
        Advance(at(40), _IDENTITY),
        *transaction(40, 1002),
    )
    assert noted.at(at(4)) == ResumeFingerprint(1000)
    first, second = noted.at(at(20)), noted.at(at(30))
    assert second.landmark is not None
    assert (first.landmark, first.count, second.landmark.before, second.count) == (
        None,
        0,
        first.last,
        0,
    )
    assert noted.at(at(30)) == noted.at(at(40)) == second
    assert (noted.at(at(50)).landmark, noted.at(at(50)).count) == (second.landmark, 1)


def test_what_has_no_changes_moves_the_position_alone() -> None:
    noted = fingerprints()
    passed(noted, *transaction(10, 1001), *transaction(20, 1002, changes=False))
    assert noted.at(at(20)) == noted.at(at(30))


def test_a_saved_place_is_gone_on_from() -> None:
    before = fingerprints()
    passed(before, *transaction(10, 1001))
    after = fingerprints(before.at(at(20)))
    passed(after, *transaction(20, 1001))
    passed(before, *transaction(20, 1001))
    assert after.at(at(30)) == before.at(at(30))


def test_a_position_that_was_not_passed_has_no_landmark() -> None:
    noted = fingerprints()
    passed(noted, *transaction(10, 1001))
    assert noted.at(at(99)) == ResumeFingerprint(1000)

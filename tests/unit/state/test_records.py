"""Documents come back as they were written, and tolerate what another version or a person wrote."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import MappingRefused
from relay.state import (
    UNKNOWN_STATE,
    DroppedName,
    InstanceStatus,
    Note,
    RelayMember,
    SetRecord,
    StartNote,
    StoredDocument,
)
from relay.state.instances.notes import DROPPED_NAMES_LISTED, read_dropped, write_dropped
from relay.state.mappings.records import Pointer

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_NOTES = st.builds(Note, author=_TEXT, comment=_TEXT, saved_ms=st.integers(0, 2**62))
_NUMBERS = st.integers(0, 2**63 - 1)
_STATUSES = st.builds(
    InstanceStatus,
    name=_TEXT,
    state=_TEXT,
    code=_TEXT,
    reason=_TEXT,
    gtid_set=_TEXT,
    epoch=_NUMBERS,
    execute_time=st.none() | _NUMBERS,
    execute_position=st.none() | _NUMBERS,
    lag_seconds=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    published_rows=_NUMBERS,
    buffer_bytes=_NUMBERS,
    row_printer=_TEXT,
)


@given(_TEXT, _NOTES)
def test_a_document_keeps_its_body_byte_for_byte(body: str, note: Note) -> None:
    document = StoredDocument("d", 3, body, note)
    assert StoredDocument.from_document("d", 3, document.to_document()) == document


def test_a_document_is_readable_with_a_shell() -> None:
    written = StoredDocument(
        "d", 1, '[\n{"logicDb": "a"}]', Note("ann", "why\nnot", 5)
    ).to_document()
    header, body = written.decode().split("\n", 1)
    assert json.loads(header) == {
        "format": 1,
        "author": "ann",
        "comment": "why\nnot",
        "saved_ms": 5,
    }
    assert body == '[\n{"logicDb": "a"}]'


@pytest.mark.parametrize(
    "by_hand", ['[{"logicDb":"a","topic":"t"}]', '[\n{"logicDb":"a"}\n]', "", '{"a":1}\nrest']
)
def test_a_document_put_there_by_hand_is_all_body(by_hand: str) -> None:
    assert StoredDocument.from_document("d", 1, by_hand.encode()).body == by_hand


def test_a_document_that_is_not_text_is_refused_by_name() -> None:
    with pytest.raises(MappingRefused, match="Version 7 of d is not UTF-8") as caught:
        StoredDocument.from_document("d", 7, b"\xff\xfe")
    assert caught.value.data_id == "d"


def test_half_a_surrogate_pair_in_a_comment_does_not_make_the_record_unreadable() -> None:
    record = SetRecord(1, {"d": 1}, Note(comment="\ud800"))
    assert SetRecord.from_document(1, record.to_document()).note.comment == "?"


@given(st.dictionaries(_TEXT, st.integers(1, 10**9)), _NOTES, st.none() | st.integers(1, 10**9))
def test_a_set_record_comes_back(
    versions: dict[str, int], note: Note, restored_from: int | None
) -> None:
    record = SetRecord(12, versions, note, restored_from)
    assert SetRecord.from_document(12, record.to_document()) == record


@pytest.mark.parametrize(
    "broken",
    [b"", b"null", b"[]", b"{}", b"{", b"\xff", b'{"format":1}', b'{"format":2,"documents":{}}'],
)
def test_a_broken_set_is_refused_and_never_read_as_empty(broken: bytes) -> None:
    with pytest.raises(MappingRefused, match="Mapping set 4"):
        SetRecord.from_document(4, broken)


@pytest.mark.parametrize(
    ("written", "number"),
    [(b'{"format":1,"set":12}', 12), (b"12", 12), (b'{"set":"12"}', 12), (b"12\n", 12)],
)
def test_a_pointer_is_read(written: bytes, number: int) -> None:
    assert Pointer.from_document(written, 5) == Pointer(number, 5)


@pytest.mark.parametrize(
    "broken", [b"", b"twelve", b"{}", b"true", b"-1", b"1.5", b'{"set":null}', b"\xff"]
)
def test_a_broken_pointer_is_refused(broken: bytes) -> None:
    with pytest.raises(MappingRefused):
        Pointer.from_document(broken, 0)


@given(_STATUSES)
def test_a_status_comes_back(status: InstanceStatus) -> None:
    assert InstanceStatus.from_document(status.name, status.to_document()) == status


def test_a_position_above_what_javascript_counts_exactly_is_text() -> None:
    fields = json.loads(InstanceStatus("i", "RUNNING", execute_position=2**62 + 1).to_document())
    assert fields["execute_position"] == str(2**62 + 1)


@given(st.binary())
def test_any_bytes_read_as_some_status(value: bytes) -> None:
    assert InstanceStatus.from_document("i", value).name == "i"
    assert RelayMember.from_document("r", value).name == "r"
    assert isinstance(StartNote.from_document(value), StartNote)
    assert isinstance(read_dropped(value), tuple)


def test_a_status_of_another_version_keeps_what_is_understood() -> None:
    status = InstanceStatus.from_document(
        "i", b'{"state":"RUNNING","epoch":"3","lag_seconds":"?","position_offset":true,"news":[1]}'
    )
    assert status == InstanceStatus("i", "RUNNING", epoch=3)
    assert InstanceStatus.from_document("i", b"garbage").state == UNKNOWN_STATE


@given(st.lists(_TEXT), st.integers(0, 2**31))
def test_a_member_and_a_start_note_come_back(instances: list[str], pid: int) -> None:
    member = RelayMember("r", "host", pid, "http://h:1", tuple(instances), 5)
    assert RelayMember.from_document("r", member.to_document()) == member
    note = StartNote("bin.000001", pid, "0-1-2", "r", 7)
    assert StartNote.from_document(note.to_document()) == note


def test_a_dropped_name_keeps_the_time_when_it_was_listed_first() -> None:
    one, two = (DroppedName(name, "no table mapping lists it.") for name in ("a.b", "c.d"))
    first = write_dropped([one], b"", 1000)
    both = write_dropped([one, two], first, 2000)
    assert {each.name: each.first_ms for each in read_dropped(both)} == {"a.b": 1000, "c.d": 2000}
    after_restart = write_dropped([], both, 3000)
    assert read_dropped(after_restart) == ()
    again = write_dropped([two], after_restart, 4000)
    assert {each.name: each.first_ms for each in read_dropped(again)} == {"c.d": 2000}
    former = b'{"names": [{"name": "a.b", "reason": "r", "rows": 1}], "more": 0}'
    (known,) = read_dropped(write_dropped([one], former, 5000))
    assert known.first_ms == 5000


def test_the_list_of_dropped_names_stays_small() -> None:
    names = [
        DroppedName(f"db.table_{number:05d}", "no database mapping lists its database.", number)
        for number in range(10_000)
    ]
    written = write_dropped(names)
    assert len(written) < 500_000
    read = read_dropped(written)
    assert len(read) == DROPPED_NAMES_LISTED
    assert read[0] == names[-1]
    assert json.loads(written)["more"] == 8000
    gone = write_dropped(names[:5000], write_dropped(names, b"", 7), 8)
    assert len(gone) < 700_000


def test_a_dropped_name_keeps_its_similar_table_and_reads_lists_without_one() -> None:
    like = DroppedName("a.b", "no table mapping lists it.", 2, 0, "shop.orders", 5, 6)
    written = write_dropped([like, DroppedName("c.d", "no table mapping lists it.", 1)], b"", 1000)
    assert [(each.like, each.like_common, each.like_all) for each in read_dropped(written)] == [
        ("shop.orders", 5, 6),
        ("", 0, 0),
    ]
    assert written.count(b'"like') == 3
    former = b'{"names":[{"name":"a.b","reason":"r","rows":1}]}'
    assert read_dropped(former) == (DroppedName("a.b", "r", 1),)


def test_a_full_list_of_dropped_names_fits_into_a_node() -> None:
    long = "d" * 64 + "." + "t" * 60
    names = [
        DroppedName(f"{long}{number:04}", "no table mapping lists it.", 9, 0, long, 60, 64)
        for number in range(DROPPED_NAMES_LISTED)
    ]
    before = write_dropped([replace(each, name=f"o{each.name}") for each in names], b"", 1000)
    assert len(write_dropped(names, before, 2000)) < 1_000_000

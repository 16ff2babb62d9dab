"""Which stores an erasure changes: what is of the keys, of records that stay, and by text alone."""

from unittest.mock import Mock

import pytest

from relay.audit import HeldEntry
from relay.dead_letters import DeadLetter
from relay.kafka import ScannedRecord, Tombstone
from relay.model.message import OutboundMessage
from relay.operations import ErasureChoice, ErasurePlan, planned, read_needles
from relay.operations.erasure.instance_stores import letter_kind, value_kind
from relay.operations.erasure.plan import Matches, TopicFinding
from relay.operations.erasure.row_topics import find_in_topic

KEY = b'["shop.client","7"]'
OTHER = b'["shop.client","8"]'
NEEDLES = read_needles([KEY.decode()], ["anna"])
ENTRY = HeldEntry(None, "00")
OF_KEYS = Matches({"shop": ("1-0",)}, {"shop": ("/claims/1",)}, ())
OF_RECORDS = Matches({}, {"shop": ("/claims/2",)}, ())
BY_TEXT = Matches({"shop": ("2-0",), "gone": ("9-0",)}, {"shop": ("/claims/3",)}, (ENTRY,))
PLAN = ErasurePlan(of_keys=OF_KEYS, of_records=OF_RECORDS, by_text=BY_TEXT)


def letter(key: bytes | None, value: bytes, reason: str = "too large.") -> DeadLetter:
    message = OutboundMessage("people", 0, key, value, ())
    return DeadLetter("1-0", "C", reason, "a.b", "a.b", "b.1", 4, "", 1, 2, message, len(value))


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (letter(KEY, b"{}"), "of keys"),
        (letter(OTHER, b"{}", f"The row {KEY.decode()} is too large."), "of keys"),
        (letter(OTHER, b'{"name":"Susanna"}'), "by text"),
        (letter(None, b"anna"), "by text"),
        (letter(OTHER, b"{}"), ""),
    ],
)
def test_a_letter_of_another_key_that_contains_a_text_is_found_by_text(
    found: DeadLetter, kind: str
) -> None:
    assert letter_kind(found, NEEDLES) == kind


@pytest.mark.parametrize(
    ("url", "value", "kind"),
    [
        ("file:///erased", b"anna", "of keys"),
        ("file:///staying", b"anna", "of records"),
        ("file:///both", b"anna", "of records"),
        ("file:///other", b'{"name":"Susanna"}', "by text"),
        ("file:///other", b"{}", ""),
    ],
)
def test_a_value_is_of_the_records_that_point_to_it(url: str, value: bytes, kind: str) -> None:
    erased, staying = ("file:///erased", "file:///both"), ("file:///staying", "file:///both")
    assert value_kind(url, value, NEEDLES, erased, staying) == kind


def test_values_of_records_that_stay_and_matches_by_text_are_erased_only_if_asked_for() -> None:
    assert PLAN.chosen(ErasureChoice()) == OF_KEYS
    assert PLAN.chosen(ErasureChoice(delete_records=True)).claims == {
        "shop": ("/claims/1", "/claims/2")
    }
    everything = PLAN.chosen(ErasureChoice(delete_records=True, by_text=True))
    assert everything == Matches(
        {"gone": ("9-0",), "shop": ("1-0", "2-0")},
        {"shop": ("/claims/1", "/claims/2", "/claims/3")},
        (ENTRY,),
    )


def test_the_preview_names_each_match_by_text_by_id_or_path() -> None:
    lines = planned(PLAN, ErasureChoice())
    assert "1 values outside of Kafka of shop are deleted." in lines
    assert "1 values outside of Kafka of shop stay with the records that point to them." in lines
    first = lines.index(
        "In these only a text was found, no key. They stay; --by-text erases all of them:"
    )
    assert lines[first + 1 :] == [
        "  dead letter 2-0 of shop",
        "  dead letter 9-0 of gone",
        "  value /claims/3",
        "  audit entry an entry without a chain, SHA-256 00",
    ]
    assert "In these only a text was found, no key. They are erased too:" in planned(
        PLAN, ErasureChoice(by_text=True)
    )


def test_a_plan_that_only_another_choice_would_change_is_not_empty_and_changes_nothing() -> None:
    for plan, choice in (
        (ErasurePlan(by_text=BY_TEXT), ErasureChoice(by_text=True)),
        (ErasurePlan(of_records=OF_RECORDS), ErasureChoice(delete_records=True)),
        (ErasurePlan((TopicFinding("t", False, None, 1),)), ErasureChoice(delete_records=True)),
    ):
        assert plan.changes_nothing(ErasureChoice())
        assert not plan.is_empty
        assert not plan.changes_nothing(choice)
    assert ErasurePlan().is_empty


def test_a_tombstone_has_the_order_and_the_tags_of_the_record_that_it_deletes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Readers then skip it after the delete, and apply it without."""
    kept = (("order", b"1"), ("tag", b"client"))
    records = [
        ScannedRecord(0, 0, KEY, b"{}", (("order", b"0"),)),
        ScannedRecord(0, 1, KEY, b"{}", (*kept, ("real", b"shop_1.client"))),
        ScannedRecord(1, 0, KEY, b"{}", ()),
        ScannedRecord(1, 1, KEY, None, ()),
        ScannedRecord(0, 2, OTHER, b"{}", ()),
        ScannedRecord(0, 3, b'["shop.client","07"]', b"{}", ()),
        ScannedRecord(0, 4, b'["shop.client","007"]', None, ()),
    ]
    monkeypatch.setattr("relay.operations.erasure.row_topics.scan_topic", lambda *_: iter(records))
    state = Mock(partitions=2, settings={"cleanup.policy": "compact"})
    finding, _ = find_in_topic(Mock(), state, NEEDLES)
    assert finding.tombstones == (Tombstone(0, KEY, kept),)
    assert finding.alike == ('["shop.client","07"]',)
    assert finding.ends == {0: 5, 1: 2}


@pytest.mark.parametrize(
    "delete",
    [
        b'{"data":[{"id":"7"}],"type":"DELETE"}',
        b'{"database":"shop","table":"client","type":"delete","data":{"id":7}}',
        b'{"before":{"id":7},"after":null,"op":"d"}',
        b'{"schema":{"type":"struct"},"payload":{"before":{"id":7},"after":null,"op":"d"}}',
        b'{"specversion":"1.0","type":"com.pajk.roma.row.delete","data":{}}',
        None,
    ],
)
def test_the_preview_names_keys_whose_last_message_is_a_row(
    monkeypatch: pytest.MonkeyPatch, delete: bytes | None
) -> None:
    """The source may still have it: its copies would lose the row in silence."""
    row = b'{"data":[{"id":"7"}],"type":"UPDATE"}'
    state = Mock(partitions=1, settings={"cleanup.policy": "compact"})
    state.name = "people"
    told = {}
    for last, values in (("delete", (row, delete)), ("row", (delete, row))):
        records = [ScannedRecord(0, at, KEY, value, ()) for at, value in enumerate(values)]
        monkeypatch.setattr(
            "relay.operations.erasure.row_topics.scan_topic",
            lambda *_, records=records: iter(records),
        )
        finding, _ = find_in_topic(Mock(), state, NEEDLES)
        lines = planned(ErasurePlan((finding,)), ErasureChoice())
        told[last] = [line for line in lines if "not known to be a delete" in line]
    assert told["delete"] == []
    (line,) = told["row"]
    assert line.startswith("people: for 1 keys, the last message")

"""What the records of a topic of dead letters are: a damaged one never hides the others."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.dead_letters.chunks import HEAD_BYTES, cut
from relay.dead_letters.dead_letter import DeadLetter
from relay.dead_letters.found_records import Replay, found_in
from relay.errors import DeadLetterDamaged
from relay.kafka import Record
from relay.model.message import OutboundMessage

LETTER = DeadLetter(
    id="0001-0",
    code="MESSAGE_TOO_LARGE",
    reason="It is too large.",
    real="shop_01.user",
    logical="shop.client",
    file="bin.000007",
    offset=4,
    gtid="",
    execute_time=1,
    execute_position=2,
    message=OutboundMessage("shop", 0, b"key", b"value" * 90, (("order", b"1"),)),
    value_bytes=450,
    written_ms=3,
)
OTHER = replace(LETTER, id="0002-0")


def records(letter: DeadLetter, first: int, piece_bytes: int = 10_000) -> list[Record]:
    pieces = cut(letter.to_bytes(), HEAD_BYTES + piece_bytes)
    return [(first + at, letter.id.encode(), piece) for at, piece in enumerate(pieces)]


def damages(found: list[Record]) -> list[tuple[str, int, str]]:
    return [
        (name, offset, content.reason)
        for name, offset, content in found_in(found)
        if isinstance(content, DeadLetterDamaged)
    ]


def test_a_letter_is_found_at_the_offset_of_its_first_part() -> None:
    parts = records(LETTER, 40, 200)
    assert len(parts) > 2
    assert [(each.name, each.offset, each.content) for each in found_in(parts)] == [
        (LETTER.id, 40, LETTER)
    ]


DAMAGE = {
    "no JSON": b"no json",
    "no piece": b'{"part":1}\nx',
    "a list": b"[1]\nx",
    "part 3 of 2": b'{"part":3,"parts":2,"sha256":"x"}\nx',
    "part 0": b'{"part":0,"parts":2,"sha256":"x"}\nx',
    "a part that is no number": b'{"part":"1","parts":2,"sha256":"x"}\nx',
    "a digest that is no text": b'{"part":1,"parts":2,"sha256":7}\nx',
    "another digest": b'{"part":1,"parts":1,"sha256":"x"}\nx',
    "a part of many": b'{"part":1,"parts":1000000000000,"sha256":"x"}\nx',
    "a replay by nobody": b'{"replayed":{}}',
    "a replay at no time": b'{"replayed":{"actor":"ann","at_ms":"now","comment":""}}',
    "empty": b"",
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_record_is_named_by_its_offset_and_hides_nothing(case: str) -> None:
    found = [*records(LETTER, 1), (7, b"0009-0", DAMAGE[case]), *records(OTHER, 8)]
    ((name, offset, reason),) = damages(found)
    assert (name, offset, bool(reason)) == ("0009-0", 7, True)
    letters = [each.content for each in found_in(found) if isinstance(each.content, DeadLetter)]
    assert letters == [LETTER, OTHER]


@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_record_is_a_letter_a_replay_or_a_damage(value: bytes, key: bytes) -> None:
    found = list(found_in([*records(LETTER, 1), (5, key, value)]))
    assert LETTER in [each.content for each in found]
    assert len(found) == 2


def test_missing_parts_are_named_in_the_end() -> None:
    parts = records(LETTER, 10, 200)
    ((name, offset, reason),) = damages([parts[0], *records(OTHER, 30), *parts[2:]])
    assert (name, offset) == (LETTER.id, 10)
    assert "these are missing in the topic: 2." in reason


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", 7), ("written_ms", "x"), ("offset", 1.5), ("reason", None), ("partition", "0")],
)
def test_a_letter_with_a_field_of_another_type_is_damaged(field: str, value: object) -> None:
    head, _, content = LETTER.to_bytes().partition(b"\n")
    fields = {**orjson.loads(head), field: value}
    pieces = cut(orjson.dumps(fields) + b"\n" + content, 10_000)
    ((_, offset, reason),) = damages([(3, b"0001-0", piece) for piece in pieces])
    assert (offset, field in reason or "int" in reason or "str" in reason) == (3, True)


def test_a_letter_below_the_key_of_another_one_is_damaged() -> None:
    ((name, _, reason),) = damages([(3, b"0009-0", piece) for _, _, piece in records(LETTER, 3)])
    assert (name, reason) == (
        "0009-0",
        "The records with the key 0009-0 contain dead letter 0001-0.",
    )


def test_only_the_records_of_the_wanted_letter_count() -> None:
    sent = orjson.dumps({"replayed": {"actor": "ann", "at_ms": 5, "comment": ""}})
    found = [*records(LETTER, 1), (2, b"0009-0", b"no json"), (3, LETTER.id.encode(), sent)]
    contents = [each.content for each in found_in(found, LETTER.id)]
    assert contents == [LETTER, Replay("ann", 5, "")]

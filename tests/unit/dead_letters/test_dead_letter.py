"""A dead letter comes back whole from its pieces, or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.dead_letters.chunks import HEAD_BYTES, Gathering, cut, piece_of
from relay.dead_letters.dead_letter import DeadLetter
from relay.encode import Membership, message_headers
from relay.errors import DeadLetterDamaged
from relay.model.message import OutboundMessage
from relay.model.positions.position import OrderPair

LETTER = DeadLetter(
    id="4294967300000-1",
    code="MESSAGE_TOO_LARGE",
    reason="The message takes 1500300 bytes, and t takes 1000000.",
    real="shop_1.t",
    logical="shop.t",
    file="b.000001",
    offset=400,
    gtid="0-1-7",
    execute_time=1_767_225_609_131,
    execute_position=4_294_967_300_000,
    message=OutboundMessage(
        "t", 3, b'["shop.t","1"]', b'{"data":"x\ny"}', (("order", b"1"), ("tag", b"\xff\x00"))
    ),
    value_bytes=14,
    written_ms=1_767_225_609_200,
)
FORMAT_1 = Path(__file__).parents[2] / "golden" / "dead_letter.1.txt"


def gathered(name: str, values: list[bytes]) -> bytes | None:
    whole, gathering = None, None
    for value in values:
        piece = piece_of(value)
        assert piece is not None
        gathering = gathering or Gathering(name, piece.parts, piece.digest)
        whole = gathering.add(piece) or whole
    return whole


@given(
    key=st.none() | st.binary(max_size=40),
    value=st.none() | st.binary(max_size=5000),
    headers=st.lists(
        st.tuples(st.text(st.characters(codec="utf-8"), max_size=9), st.binary(max_size=9)),
        max_size=4,
    ),
    piece_bytes=st.integers(1, 700),
)
def test_a_letter_comes_back_whole(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]], piece_bytes: int
) -> None:
    letter = replace(LETTER, message=OutboundMessage("t", 3, key, value, tuple(headers)))
    pieces = list(cut(letter.to_bytes(), HEAD_BYTES + piece_bytes))
    assert all(len(piece) <= HEAD_BYTES + piece_bytes for piece in pieces)
    whole = gathered(letter.id, [*pieces, *pieces[:0]])
    assert whole is not None
    assert DeadLetter.from_bytes(whole) == letter


def test_a_piece_that_comes_twice_changes_nothing() -> None:
    pieces = list(cut(LETTER.to_bytes(), HEAD_BYTES + 50))
    assert gathered(LETTER.id, [pieces[0], *pieces]) == LETTER.to_bytes()


def test_a_missing_piece_is_named() -> None:
    pieces = [piece_of(each) for each in cut(LETTER.to_bytes(), HEAD_BYTES + 100)]
    gathering = Gathering(LETTER.id, len(pieces), pieces[0].digest if pieces[0] else "")
    for piece in pieces[:1] + pieces[2:]:
        assert piece is not None
        assert gathering.add(piece) is None
    assert (
        gathering.damage.reason
        == f"Of the {len(pieces)} parts of dead letter {LETTER.id}, these are missing in the "
        "topic: 2."
    )


def test_a_piece_that_was_changed_is_found_out() -> None:
    pieces = list(cut(LETTER.to_bytes(), HEAD_BYTES + 50))
    with pytest.raises(DeadLetterDamaged, match="differs from the one in the parts"):
        gathered(LETTER.id, [*pieces[:-1], pieces[-1] + b"x"])


@pytest.mark.parametrize("value", [b"", b"no json\nx", b"[1]\nx", b'{"part":1}\nx'])
def test_what_is_no_record_of_a_letter_is_damage(value: bytes) -> None:
    with pytest.raises(DeadLetterDamaged):
        piece_of(value)


@pytest.mark.parametrize(
    "document", [b"", b"{}\n", LETTER.to_bytes().replace(b'"format":1', b'"format":9')]
)
def test_what_is_no_letter_is_damage(document: bytes) -> None:
    with pytest.raises(DeadLetterDamaged):
        DeadLetter.from_bytes(document)


def test_a_letter_of_a_newer_version_is_read_without_what_it_added() -> None:
    assert (
        DeadLetter.from_bytes(LETTER.to_bytes().replace(b'{"format":1', b'{"format":1,"more":[1]'))
        == LETTER
    )


def test_what_was_once_written_is_read() -> None:
    assert DeadLetter.from_bytes(FORMAT_1.read_bytes()) == LETTER


def test_a_message_that_is_sent_later_is_of_no_source_transaction() -> None:
    """Its own has ended for readers of whole transactions, who would drop it as one they had."""
    membership = Membership("shop/0-1-7/9", 9)
    headers = message_headers(OrderPair(5, 10), (("tag", b"t"),), membership)
    letter = replace(LETTER, message=replace(LETTER.message, headers=headers))
    later = replace(letter.message, headers=message_headers(OrderPair(5, 10), (("tag", b"t"),)))
    assert len(headers) == len(later.headers) + 2
    assert letter.later_message == later

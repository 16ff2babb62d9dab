"""What a writer sent, read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import BadRequest, ProblemsFound
from api.middleware.request_body import check_keys, document_text, documents_of, note_of

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
    max_leaves=10,
)


@pytest.mark.slow
@given(st.dictionaries(_TEXT, st.lists(_JSON) | st.dictionaries(_TEXT, _JSON)))
def test_documents_keep_their_meaning(documents: dict[str, object]) -> None:
    read = documents_of(json.dumps(documents).encode())
    assert {name: json.loads(text) for name, text in read.items()} == documents


def test_the_text_of_json_is_kept_as_it_is() -> None:
    assert documents_of(b'{"d": "[ 1,\\n2 ]"}') == {"d": "[ 1,\n2 ]"}


def test_a_document_is_written_one_entry_a_line() -> None:
    assert (
        documents_of(b'{"d": [{"a": 1}, {"b": "\\u00e9"}]}')["d"]
        == '[\n  {"a": 1},\n  {"b": "é"}\n]\n'
    )


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"text"', b"{", b"\xff", b'{"d": [{"a": 1, "a": 2}]}', b"[" * 200_000]
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        documents_of(body)


@pytest.mark.parametrize("body", [b'{"a": 1, "a": 2}', b'[{"b": {"a": 1, "a": 1}}]'])
def test_a_repeated_key_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest, match="an object has more than one a: remove one"):
        check_keys(body)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000, b'[{"a": 1}, {"a": 2}]'])
def test_another_fault_is_left_to_the_reader_of_the_body(body: bytes) -> None:
    check_keys(body)


def test_a_body_of_another_shape_is_refused_with_the_expected_one() -> None:
    with pytest.raises(BadRequest, match="not an object") as caught:
        documents_of(b"[]")
    assert "<dataId>" in caught.value.way_out


def test_a_document_that_is_not_utf_8_is_refused_with_its_place() -> None:
    with pytest.raises(ProblemsFound) as caught:
        document_text("d", b"ab\xff")
    assert caught.value.problems[0].data_id == "d"
    assert "byte 2" in caught.value.problems[0].sentence


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (None, ""),
        ("ann", "ann"),
        ("b%C3%B6b", "böb"),
        ("böb".encode().decode("latin-1"), "böb"),
        ("b\xf6b", "böb"),
        (" 100% sure ", "100% sure"),
    ],
)
def test_headers_are_text(header: str | None, text: str) -> None:
    assert note_of(header, None).author == text


@given(st.text(st.characters(max_codepoint=255)))
def test_any_header_is_some_note(header: str) -> None:
    note = note_of(header, header)
    assert len(note.author) <= 200
    assert note.saved_ms > 1_700_000_000_000

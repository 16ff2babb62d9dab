"""What an erasure looks for: keys and texts, as stores hold them."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import ErasureRefused
from relay.operations import read_needles

_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=4).filter(
    lambda text: text.strip()
)


@given(_TEXTS, st.booleans())
def test_a_text_is_found_as_it_is_and_in_json(text: str, ascii_only: bool) -> None:
    needles = read_needles([], [text])
    assert needles.are_in(f"before {text} after")
    value = json.dumps({"data": [{"name": text}]}, ensure_ascii=ascii_only).encode()
    assert needles.in_any(None, b"", value)
    assert not needles.in_any(None, b"", b"{}")


def test_a_key_is_bytes_and_is_found_in_json() -> None:
    needles = read_needles(['["shop.client","7"]', ""], [])
    assert needles.keys == {b'["shop.client","7"]'}
    assert needles.in_any(json.dumps({"key": '["shop.client","7"]'}).encode())
    assert not needles.in_any(b'["shop.client","71"]')


def test_a_key_with_bytes_that_are_no_characters_is_named_as_messages_have_it() -> None:
    needles = read_needles(['["shop.client", {"base64": "Yf8="}]'], [])
    assert needles.keys == {b'["shop.client",{"base64":"Yf8="}]'}


@pytest.mark.parametrize(
    ("keys", "texts", "reason"),
    [
        ([], [" "], "Neither a key nor a text"),
        (["shop.client 7"], [], "Line 1 of the keys"),
        (['["shop.client"]'], [], "Line 1 of the keys"),
        (['["shop.client",7]'], [], "Line 1 of the keys"),
        (['["shop.client",{"base64":7}]'], [], "Line 1 of the keys"),
        (['["shop.client",{"text":"Yf8="}]'], [], "Line 1 of the keys"),
        ([], ["Jane", "Ann"], "Line 2 of the texts"),
    ],
)
def test_what_names_nobody_is_refused_without_its_value(
    keys: list[str], texts: list[str], reason: str
) -> None:
    with pytest.raises(ErasureRefused, match=reason) as refused:
        read_needles(keys, texts)
    assert not any(each in str(refused.value) for each in (*keys, *texts) if each.strip())


@pytest.mark.parametrize(
    "line", ['["shop.client", "Zoé"]', '[ "shop.client","Zo\\u00e9" ]', '["shop.client","Zoé"]']
)
def test_a_key_is_found_as_messages_write_it_however_its_json_is_written(line: str) -> None:
    needles = read_needles([line], [])
    assert needles.keys == {'["shop.client","Zoé"]'.encode()}
    assert needles.key_in_any(json.dumps({"key": '["shop.client","Zoé"]'}).encode())


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("1", "01"),
        ("007.50", "7.5"),
        ("-0", "0.0"),
        ("anna", "Anna"),
        ("anna ", "ANNA"),
        ("Zoé", "zoe"),
        ("straße", "STRASSE"),
    ],
)
def test_another_spelling_of_a_key_is_known_and_not_erased(named: str, found: str) -> None:
    for one, other in ((named, found), (found, named)):
        needles = read_needles([json.dumps(["shop.client", one])], [])
        key = orjson.dumps(["shop.client", other])
        assert needles.is_alike(key)
        assert key not in needles.keys
        assert not needles.is_alike(orjson.dumps(["shop.client", one]))


def test_other_keys_are_not_alike() -> None:
    needles = read_needles(['["shop.client","1"]', '["shop.client","anna"]'], [])
    others = ["10", "-1", "1.1", "1a", "ann", "annab"]
    for key in (None, b"", b"1", b"{}", *(orjson.dumps(["shop.client", each]) for each in others)):
        assert not needles.is_alike(key)


def test_a_key_that_no_message_can_have_is_refused() -> None:
    with pytest.raises(ErasureRefused, match="is not a message key"):
        read_needles(['["shop.client","\\ud800"]'], [])

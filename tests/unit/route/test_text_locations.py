"""A JSON pointer leads to the line and column where its value begins."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.route import TextLocation, TextLocations

DOCUMENT = """[
  {"logicTb": "a", "realTbs": ["x", "y"]},

  {"logicTb": "b/c",
   "realTbs": "z"}
]"""

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        ("", 1, 1),
        ("/0", 2, 3),
        ("/0/realTbs", 2, 31),
        ("/0/realTbs/1", 2, 37),
        ("/1/realTbs", 5, 15),
        ("/1/missing", 4, 3),
        ("/7/logicTb", 1, 1),
        ("/0/logicTb/deeper", 2, 15),
    ],
)
def test_a_pointer_leads_to_the_innermost_value_that_exists(
    pointer: str, line: int, column: int
) -> None:
    assert TextLocations(DOCUMENT).of(pointer) == TextLocation(line, column)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('[\n  {"a": 1,}\n]', 2, 11), ("", 1, 1), ("[\n", 2, 1), ("[1]\nx", 2, 1)],
)
def test_a_text_that_is_not_json_is_placed_at_its_first_error(
    text: str, line: int, column: int
) -> None:
    with pytest.raises(json.JSONDecodeError) as refused:
        json.loads(text)
    assert (refused.value.lineno, refused.value.colno) == (line, column)
    assert TextLocations(text).of("/0/a") == TextLocation(line, column)


def test_a_text_that_is_nested_too_deep_has_its_first_line() -> None:
    assert TextLocations("[" * 100_000 + "]" * 100_000).of("/0") == TextLocation(1, 1)


@given(_VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_the_value_at_each_pointer_is_read_back_from_its_place(
    document: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    places, lines = TextLocations(text), text.split("\n")
    for pointer, value in _pointers("", document):
        line, column = places.of(pointer)
        rest = "\n".join([lines[line - 1][column - 1 :], *lines[line:]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value


def _pointers(pointer: str, value: Any) -> list[tuple[str, Any]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = [(pointer, value)]
    for key, each in inner:
        name = str(key).replace("~", "~0").replace("/", "~1")
        found += _pointers(f"{pointer}/{name}", each)
    return found

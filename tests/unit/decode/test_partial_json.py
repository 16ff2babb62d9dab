"""Documents that are updated in part: what the changes make of them, and which changes are
refused.
"""

import json
from typing import Any

import pytest

from relay.decode import RowDecoder
from relay.decode.values.json_diff import patched
from relay.decode.values.malformed import Malformed
from relay.errors import CorruptEvent
from relay.model.change import RowChange
from relay.model.table import ColumnType
from relay.model.value import ABSENT, JsonDocument, JsonNode
from tests.unit.decode.event_bytes import (
    WrittenColumn,
    WrittenTable,
    image,
    lenenc,
    raw_rows,
    rows_body,
    with_length,
)

PARTIAL_UPDATE = 39
REPLACE, INSERT, REMOVE = range(3)
BEFORE: dict[str, JsonNode] = {"a": 1, "b": [1, 2, 3], "bb": {"c": None}}


def stored(number: int) -> bytes:
    """A number as binary JSON."""
    return b"\x05" + number.to_bytes(2, "little")


def change(operation: int, path: str, value: int | None = None) -> bytes:
    raw = bytes([operation]) + with_length(path.encode())
    return raw if value is None else raw + with_length(stored(value))


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        (b"", BEFORE),
        (change(REPLACE, "$.a", 9), {"a": 9, "b": [1, 2, 3], "bb": {"c": None}}),
        (change(REPLACE, "$", 9), 9),
        (change(REPLACE, '$."a"', 9), {"a": 9, "b": [1, 2, 3], "bb": {"c": None}}),
        (change(REPLACE, "$.b[1]", 9), {"a": 1, "b": [1, 9, 3], "bb": {"c": None}}),
        (change(REPLACE, "$.bb.c", 9), {"a": 1, "b": [1, 2, 3], "bb": {"c": 9}}),
        (change(REPLACE, "$.a[0]", 9), {"a": 9, "b": [1, 2, 3], "bb": {"c": None}}),
        (change(INSERT, "$.aa", 9), {"a": 1, "b": [1, 2, 3], "aa": 9, "bb": {"c": None}}),
        (change(INSERT, '$."x y\\"z"', 9), {"a": 1, "b": [1, 2, 3], "bb": {"c": None}, 'x y"z': 9}),
        (change(INSERT, "$.é", 9), {"a": 1, "b": [1, 2, 3], "bb": {"c": None}, "é": 9}),
        (change(INSERT, "$.b[0]", 9), {"a": 1, "b": [9, 1, 2, 3], "bb": {"c": None}}),
        (change(INSERT, "$.b[3]", 9), {"a": 1, "b": [1, 2, 3, 9], "bb": {"c": None}}),
        (change(REMOVE, "$.b[1]"), {"a": 1, "b": [1, 3], "bb": {"c": None}}),
        (change(REMOVE, "$.bb"), {"a": 1, "b": [1, 2, 3]}),
        (
            change(REMOVE, "$.a") + change(INSERT, "$.a", 2),
            {"a": 2, "b": [1, 2, 3], "bb": {"c": None}},
        ),
    ],
)
def test_changes_make_the_document_after(changes: bytes, after: JsonNode) -> None:
    found = patched(JsonDocument(BEFORE), changes)
    assert json.dumps(found.root) == json.dumps(after)
    assert BEFORE == {"a": 1, "b": [1, 2, 3], "bb": {"c": None}}


@pytest.mark.parametrize(
    "changes",
    [
        change(REPLACE, "$.x", 9),
        change(REPLACE, "$.b[3]", 9),
        change(REPLACE, "$.a.b", 9),
        change(REPLACE, "$.b.a", 9),
        change(INSERT, "$.a", 9),
        change(INSERT, "$", 9),
        change(REMOVE, "$.x"),
        change(REMOVE, "$.b[3]"),
        change(REMOVE, "$"),
        change(3, "$.a", 9),
        change(REPLACE, "a", 9),
        change(REPLACE, "$.a ", 9),
        change(REPLACE, "$[last]", 9),
        change(REPLACE, "$**.a", 9),
        change(REPLACE, '$."a', 9),
        change(REPLACE, '$."\\x"', 9),
        change(REPLACE, "$" + ".a" * 101, 9),
        bytes([REPLACE]) + with_length(b"$.\xff") + with_length(stored(9)),
        bytes([REPLACE]) + with_length(b"$.a"),
        change(REPLACE, "$.a", 9)[:-1],
        bytes([REPLACE]) + b"\xfe" + b"\xff" * 8,
    ],
)
def test_changes_that_do_not_fit_are_refused(changes: bytes) -> None:
    with pytest.raises(Malformed):
        patched(JsonDocument(BEFORE), changes)


JSON = WrittenColumn(ColumnType.JSON, b"\x04", name="j")
TABLE = WrittenTable(
    (WrittenColumn(ColumnType.LONG, unsigned=False, nullable=False, name="id"), JSON, JSON),
    primary_key=(0,),
)
ID = b"\1\0\0\0"


def document(number: int) -> bytes:
    raw = stored(number)
    return len(raw).to_bytes(4, "little") + raw


def changed(changes: bytes) -> bytes:
    return len(changes).to_bytes(4, "little") + changes


def decoded(*images: bytes, present: list[bytes] | None = None) -> list[RowChange]:
    both = present if present is not None else [b"\7", b"\7"]
    body = rows_body(3, *images, kind=PARTIAL_UPDATE, present=both)
    return list(RowDecoder().decode(raw_rows(TABLE.map_body(), body, PARTIAL_UPDATE)).rows)


def test_an_event_says_of_each_row_which_documents_are_changes() -> None:
    before = image([ID, document(1), document(2)])
    rows = decoded(
        *(before, lenenc(1) + b"\1", image([ID, changed(change(REPLACE, "$", 9)), document(3)])),
        *(before, lenenc(0), image([ID, document(4), None])),
        *(before, lenenc(1) + b"\3", image([ID, changed(b""), changed(change(REPLACE, "$", 5))])),
    )
    one, two = JsonDocument(1), JsonDocument(2)
    assert rows == [
        RowChange((1, one, two), (1, JsonDocument(9), JsonDocument(3))),
        RowChange((1, one, two), (1, JsonDocument(4), None)),
        RowChange((1, one, two), (1, one, JsonDocument(5))),
    ]


def test_a_change_of_a_document_that_was_not_logged_is_unknown() -> None:
    after = image([changed(change(REPLACE, "$", 9))])
    assert decoded(image([ID]), lenenc(1) + b"\1", after, present=[b"\1", b"\2"]) == [
        RowChange((1, ABSENT, ABSENT), (ABSENT,) * 3)
    ]


@pytest.mark.parametrize(
    "images",
    [
        (image([ID, None, None]), b"\1\1", image([ID, changed(change(REPLACE, "$", 9)), None])),
        (image([ID, document(1), None]), b"\2", image([ID, None, None])),
        (image([ID, document(1), None]), b"\1"),
        (image([ID, document(1), None]), b"\1\1", image([ID, changed(b"\x07"), None])),
        (image([ID, document(1), None]), b"\1\1", image([ID, b"\xff\xff\xff\xff", None])),
    ],
)
def test_damaged_partial_updates_are_refused(images: tuple[bytes, ...]) -> None:
    with pytest.raises(CorruptEvent, match="row 1"):
        decoded(*images)


def test_such_an_event_is_no_event_of_whole_images() -> None:
    body = rows_body(3, kind=PARTIAL_UPDATE, present=[b"\7", b"\7"])
    event: Any = RowDecoder().open(raw_rows(TABLE.map_body(), body, PARTIAL_UPDATE))
    assert event.images_at is None

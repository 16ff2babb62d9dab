"""Binary JSON of hand-made bytes.

Bytes that a MySQL 9.7 wrote are compared in the integration tests.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.decode.values.json_binary import MAX_DEPTH, parse_json
from relay.decode.values.malformed import Malformed
from relay.model.value import JsonDocument, JsonScalar, JsonScalarKind


def small_array(*entries: bytes, tail: bytes = b"") -> bytes:
    size = 4 + 3 * len(entries) + len(tail)
    return (
        len(entries).to_bytes(2, "little") + size.to_bytes(2, "little") + b"".join(entries) + tail
    )


def nested(depth: int) -> bytes:
    body = small_array()
    for _ in range(depth - 1):
        body = small_array(b"\x02\x07\x00", tail=body)
    return b"\x02" + body


@pytest.mark.parametrize(
    ("data", "root"),
    [
        (b"", None),
        (b"\x04\x00", None),
        (b"\x04\x01", True),
        (b"\x04\x02", False),
        (b"\x05\xff\xff", -1),
        (b"\x07\x00\x00\x00\x80", -(2**31)),
        (b"\x09" + b"\xff" * 8, -1),
        (b"\x0a" + b"\xff" * 8, JsonScalar(JsonScalarKind.UNSIGNED, str(2**64 - 1))),
        (b"\x0b\x00\x00\x00\x00\x00\x00\xf8\x3f", 1.5),
        (b"\x0c\x03abc", "abc"),
        (b"\x0c\x80\x01" + b"x" * 128, "x" * 128),
        (b"\x02" + small_array(b"\x05\x01\x00", b"\x04\x01\x00"), [1, True]),
        (b"\x00\x01\x00\x0c\x00\x0b\x00\x01\x00\x05\x07\x00k", {"k": 7}),
        (
            b"\x01\x01\x00\x00\x00\x14\x00\x00\x00\x13\x00\x00\x00\x01\x00\x08\x07\x00\x00\x00k",
            {"k": JsonScalar(JsonScalarKind.UNSIGNED, "7")},
        ),
        (
            b"\x0f\xf6\x05\x04\x02\x81\x96"[:2] + b"\x04\x04\x02\x81\x32",
            JsonScalar(JsonScalarKind.DECIMAL, "1.50"),
        ),
        (
            b"\x0f\x0a\x08" + ((2024 * 13 + 1) << 46 | 2 << 41).to_bytes(8, "little"),
            JsonScalar(JsonScalarKind.DATE, "2024-01-02"),
        ),
        (
            b"\x0f\x0b\x08" + (-((100 << 12) << 24)).to_bytes(8, "little", signed=True),
            JsonScalar(JsonScalarKind.TIME, "-100:00:00.000000"),
        ),
        (
            b"\x0f\x0f\x02\x00\xff",
            JsonScalar(JsonScalarKind.OPAQUE, "base64:type15:AP8=", b"\x00\xff", 15),
        ),
    ],
)
def test_each_kind_becomes_its_node(data: bytes, root: object) -> None:
    assert parse_json(data) == JsonDocument(root)  # type: ignore[arg-type] # the table mixes every kind of node


@pytest.mark.parametrize(
    "data",
    [
        b"\x04\x03",
        b"\x0d",
        b"\x0c\x05abc",
        b"\x0c\x01\xff",
        b"\x0c\x80\x80\x80\x80\x80\x01",
        b"\x0f\x0b\x01\x00",
        b"\x0f\x0b\x08" + b"\x7f" * 8,
        b"\x02\x01\x00\xff\x00\x05\x01\x00",
        b"\x00\x02\x00\x14\x00\x12\x00\x01\x00\x12\x00\x01\x00\x05\x01\x00\x05\x01\x00kk"[:21],
        b"\x02\x01\x00\x05\x00\x05",  # the value within the entry is cut off
        nested(MAX_DEPTH + 1),
    ],
)
def test_contradictions_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        parse_json(data)


def test_the_deepest_document_of_a_server_is_read() -> None:
    root = parse_json(nested(MAX_DEPTH)).root
    for _ in range(MAX_DEPTH - 1):
        assert isinstance(root, list)
        (root,) = root
    assert root == []


def test_a_document_that_refers_to_itself_ends() -> None:
    with pytest.raises(Malformed):
        parse_json(b"\x02" + small_array(*[b"\x02\x00\x00"] * 50))
    with pytest.raises(Malformed, match="overlap"):
        parse_json(b"\x02" + small_array(*[b"\x0c\x9a\x00"] * 50, tail=b"\x64" + b"x" * 100))


@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_but_malformed(data: bytes) -> None:
    try:
        document = parse_json(data)
    except Malformed:
        return
    assert isinstance(document, JsonDocument)

"""Compiled code prints binary JSON as the readable packages do, and refuses what they refuse."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.compiled import COMPILED, ColumnPlan, Kind
from relay.decode.values.json_binary import MAX_DEPTH, parse_json
from relay.decode.values.malformed import Malformed
from relay.encode.texts.json_text import server_json
from relay.model.row_path import SlowReason
from tests.support.examples import examples
from tests.unit.decode.event_bytes import image
from tests.unit.decode.test_json_binary import nested, small_array
from tests.unit.pipeline.messages.json_documents import (
    DOCUMENTS,
    NODES,
    Node,
    document,
    long_document,
)

if COMPILED:
    from relay.compiled.row_printer import RowPrinter

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled printer was not built")

_AFTER = b'],"old":'
_TIME = 1_700_000_000_123


def readable(raw: bytes) -> bytes | None:
    """The text as a JSON string, None for a damaged document."""
    try:
        return orjson.dumps(server_json(parse_json(raw)))
    except Malformed:
        return None


def printed(*documents: bytes) -> tuple[bytes, bytes] | None:
    """What `data` and `old` hold: of one document inserted, or of two of an update."""
    printer = RowPrinter(
        [ColumnPlan(Kind.JSON, 4, True, True, True, 0, 0, b'{"j":', None)], (), b"", (), 0, 1
    )
    body = b"".join(image([len(raw).to_bytes(4, "little") + raw]) for raw in documents)
    found = printer.print_rows(body, 0, len(documents) == 2, _AFTER, b"}", _TIME, 1, 0, None)
    if isinstance(found, SlowReason):
        assert found is SlowReason.VALUE
        return None
    _, _, size, block = found
    data, _, old = block[-size:].partition(_AFTER)
    return data.removeprefix(b'{"data":[{"j":').removesuffix(b"}"), old.removesuffix(b"}")


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(DOCUMENTS)
def test_a_document_prints_as_it_reads(raw: bytes) -> None:
    assert readable(raw) is not None
    assert printed(raw) == (readable(raw), b"")


@settings(max_examples=examples(15), deadline=None)
@given(NODES, st.integers(60_000, 140_000))
def test_so_does_a_long_one(node: Node, size: int) -> None:
    raw = long_document(node, size)
    assert printed(raw) == (readable(raw), b"")


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.data())
def test_what_is_damaged_is_refused_or_reads_the_same(data: st.DataObject) -> None:
    raw = bytearray(data.draw(DOCUMENTS.filter(bool)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    del raw[data.draw(st.integers(1, len(raw))) :]
    found = printed(bytes(raw))
    assert found in (None, (readable(bytes(raw)), b""))


@settings(max_examples=examples(400), deadline=None)
@given(st.binary(max_size=200))
def test_so_are_random_bytes(raw: bytes) -> None:
    assert printed(raw) in (None, (readable(raw), b""))


@pytest.mark.parametrize(
    "raw",
    [
        nested(MAX_DEPTH + 1),
        b"\x02" + small_array(*[b"\x02\x00\x00"] * 50),
        b"\x02" + small_array(*[b"\x0c\x9a\x00"] * 50, tail=b"\x64" + b"x" * 100),
        b"\x03\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x01\xff\xff\xff\xff\x08\x00\x00\x00",
        b"\x02\x01\x00\x05\x00\x05",
        b"\x0c\xff\xff\xff\xff\x0f",
        b"\x0c\x80\x80\x80\x80\x80\x01",
        b"\x00\x02\x00\x14\x00\x12\x00\x01\x00\x13\x00\x01\x00\x05\x01\x00\x05\x01\x00kk",
    ],
)
def test_hostile_documents_are_refused(raw: bytes) -> None:
    assert readable(raw) is None
    assert printed(raw) is None


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(NODES, NODES)
def test_an_update_holds_the_old_document_where_its_text_is_another(
    before: Node, after: Node
) -> None:
    old, new = document(before), document(after)
    changed = b"{}" if readable(old) == readable(new) else b'{"j":' + (readable(old) or b"") + b"}"
    assert printed(old, new) == (readable(new), b"[" + changed + b"]")


@given(NODES)
def test_the_same_text_in_other_bytes_is_no_change(node: Node) -> None:
    small, large = (document(node, large=large) for large in (False, True))
    assert printed(small, large) == (readable(small), b"[{}]")


@given(NODES)
def test_a_damaged_old_document_is_refused(node: Node) -> None:
    assert printed(b"\x0d", document(node)) is None

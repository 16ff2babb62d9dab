"""Writes binary JSON as MySQL does (MySQL source: sql-common/json_binary.cc), of documents that
hypothesis makes up.
"""

import struct
from dataclasses import dataclass
from typing import Final, TypeAlias

from hypothesis import strategies as st

from tests.unit.pipeline.messages.decimal_bytes import decimals

_SMALL_LIMIT: Final = 0xFFFF
_DECIMAL, _DATE, _TIME, _DATETIME, _TIMESTAMP = 246, 10, 11, 12, 7


@dataclass(frozen=True)
class Written:
    """A scalar: its type byte and its body."""

    kind: int
    body: bytes


Node: TypeAlias = "Written | list[Node] | dict[str, Node]"


def document(node: Node, *, large: bool = False) -> bytes:
    """Return the bytes of a column's value.

    `large` ones use numbers of four bytes even where two would do.
    """
    kind, body = _written(node, large)
    return bytes([kind]) + body


def long_document(node: Node, size: int) -> bytes:
    """Return a document around `size` bytes of text, with parts before and behind them."""
    return document([node, Written(0x0C, sized(b"x" * size)), node])


def _written(node: Node, large: bool) -> tuple[int, bytes]:
    if isinstance(node, Written):
        return node.kind, node.body
    kind = 0 if isinstance(node, dict) else 2
    if not large:
        body = _container(node, 2, large)
        if len(body) <= _SMALL_LIMIT:
            return kind, body
    return kind + 1, _container(node, 4, large)


def _container(node: "list[Node] | dict[str, Node]", width: int, large: bool) -> bytes:
    """Head, table of keys, table of values, then what the tables refer to."""
    members = (
        node if isinstance(node, list) else [node[key] for key in sorted(node, key=_by_length)]
    )
    keys = [] if isinstance(node, list) else [key.encode() for key in sorted(node, key=_by_length)]
    first = 2 * width + len(keys) * (width + 2) + len(members) * (1 + width)
    tail = b"".join(keys)
    key_table = b""
    at = first
    for key in keys:
        key_table += _number(at, width) + len(key).to_bytes(2, "little")
        at += len(key)
    values = b""
    for member in members:
        kind, body = _written(member, large)
        if kind in (4, 5, 6) or (width == 4 and kind in (7, 8)):
            values += bytes([kind]) + body.ljust(width, b"\0")
        else:
            values += bytes([kind]) + _number(first + len(tail), width)
            tail += body
    return (
        _number(len(members), width) + _number(first + len(tail), width) + key_table + values + tail
    )


def _number(value: int, width: int) -> bytes:
    return (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def _by_length(key: str) -> tuple[int, bytes]:
    return len(key.encode()), key.encode()


def sized(raw: bytes) -> bytes:
    """Return bytes behind their length, seven bits to the byte."""
    left, head = len(raw), b""
    while left > 0x7F:
        head, left = head + bytes([left & 0x7F | 0x80]), left >> 7
    return head + bytes([left]) + raw


def json_scalar(value: float | str | None) -> Written:
    """Return a scalar as JSON's own literals become one; whole numbers fit into 16 bits."""
    if value is None or isinstance(value, bool):
        return Written(4, b"\0" if value is None else b"\1" if value else b"\2")
    if isinstance(value, int):
        return Written(5, struct.pack("<h", value))
    return (
        Written(0x0B, struct.pack("<d", value))
        if isinstance(value, float)
        else Written(0x0C, sized(value.encode()))
    )


def opaque(kind: int, raw: bytes) -> Written:
    return Written(0x0F, bytes([kind]) + sized(raw))


def _fixed(
    kind: int, code: str, numbers: st.SearchStrategy[int] | st.SearchStrategy[float]
) -> st.SearchStrategy[Written]:
    return numbers.map(lambda value: Written(kind, struct.pack(code, value)))


def _whole(kind: int, code: str, bits: int, *, signed: bool) -> st.SearchStrategy[Written]:
    return _fixed(
        kind,
        code,
        st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
        if signed
        else st.integers(0, (1 << bits) - 1),
    )


def _packed(parts: tuple[int, ...]) -> int:
    """The 64-bit form of year, month, day, hour, minute, second and microsecond."""
    year, month, day, hour, minute, second, micro = parts
    return ((year * 13 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second) << 24 | micro


def _opaque_decimal(measures: tuple[int, int]) -> st.SearchStrategy[Written]:
    return decimals(*measures).map(lambda raw: opaque(_DECIMAL, bytes(measures) + raw))


_MOMENTS: Final = st.tuples(
    *(st.integers(0, most) for most in (9999, 12, 31, 23, 59, 59, 999_999))
).map(_packed)
_SPANS: Final = st.tuples(
    st.sampled_from((-1, 1)),
    st.integers(0, 838),
    *(st.integers(0, most) for most in (59, 59, 999_999)),
).map(lambda p: p[0] * ((p[1] << 12 | p[2] << 6 | p[3]) << 24 | p[4]))
_FLOATS: Final = st.one_of(
    st.sampled_from(
        (
            0.0,
            -0.0,
            1.0,
            -3.0,
            0.1,
            12.25,
            1e15,
            1e16,
            1e300,
            5e-324,
            1.7976931348623157e308,
            1e-15,
            1e-16,
            123456789012345.6,
        )
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**16), 10**16).map(lambda value: value / 1000),
)
_TEXTS: Final = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.text(st.sampled_from('"\\/\b\f\n\r\t\0\x01\x1f\x7f\x80 aé漢😀'), max_size=30),
    st.text("abc", min_size=120, max_size=140),
)

SCALARS: Final = st.one_of(
    st.sampled_from((b"\0", b"\1", b"\2")).map(lambda code: Written(4, code)),
    *(
        _whole(kind, code, bits, signed=True)
        for kind, code, bits in ((5, "<h", 16), (7, "<i", 32), (9, "<q", 64))
    ),
    *(
        _whole(kind, code, bits, signed=False)
        for kind, code, bits in ((6, "<H", 16), (8, "<I", 32), (10, "<Q", 64))
    ),
    _fixed(0x0B, "<d", _FLOATS),
    _TEXTS.map(lambda text: Written(0x0C, sized(text.encode()))),
    st.sampled_from(((10, 2), (65, 30), (38, 38), (9, 9), (1, 0), (20, 0), (19, 1))).flatmap(
        _opaque_decimal
    ),
    st.tuples(st.sampled_from((_DATE, _DATETIME, _TIMESTAMP)), _MOMENTS).map(
        lambda each: opaque(each[0], struct.pack("<q", each[1]))
    ),
    _SPANS.map(lambda value: opaque(_TIME, struct.pack("<q", value))),
    st.tuples(st.sampled_from((13, 15, 16, 252, 254, 255)), st.binary(max_size=180)).map(
        lambda each: opaque(*each)
    ),
)
"""Every scalar that a document of today's servers holds."""

NODES: Final[st.SearchStrategy[Node]] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(_TEXTS, inner, max_size=6)
    ),
    max_leaves=25,
)


def _chain(depth: int, leaf: Node) -> Node:
    for level in range(depth):
        leaf = [leaf] if level % 2 else {"k": leaf}
    return leaf


_DEEP: Final = st.builds(_chain, st.integers(90, 100), st.just(Written(4, b"\1")))
DOCUMENTS: Final[st.SearchStrategy[bytes]] = st.one_of(
    st.just(b""),
    st.builds(document, NODES, large=st.booleans()),
    st.builds(document, _DEEP, large=st.booleans()),
)
"""Documents as a server writes them."""

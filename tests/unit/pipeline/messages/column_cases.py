"""Columns as servers log them, each with a strategy for the bytes of its values (MySQL source: the
field types' storage).
"""

import struct
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tests.unit.pipeline.messages.decimal_bytes import decimals
from tests.unit.pipeline.messages.json_documents import DOCUMENTS

Octets: TypeAlias = st.SearchStrategy[bytes]
Case: TypeAlias = tuple[dict[str, Any], Octets]

UTF8MB4, LATIN1, BINARY, ASCII, GBK = 45, 8, 63, 11, 28
_FRACTIONS = {0: (0, 1), 2: (1, 100), 4: (2, 10_000), 6: (3, 1_000_000)}


def integers(width: int) -> Octets:
    return st.binary(min_size=width, max_size=width)


def text(prefix: int, encoding: str, most: int) -> Octets:
    values = st.text(st.characters(codec=encoding), max_size=most)
    return values.map(lambda value: value.encode(encoding)).map(
        lambda raw: len(raw).to_bytes(prefix, "little") + raw
    )


def octets(prefix: int, most: int) -> Octets:
    return st.binary(max_size=most).map(lambda raw: len(raw).to_bytes(prefix, "little") + raw)


def fraction(precision: int) -> Octets:
    width, limit = _FRACTIONS[precision]
    return st.integers(0, limit - 1).map(lambda value: value.to_bytes(width, "big"))


def datetimes(precision: int) -> Octets:
    parts = st.tuples(
        st.integers(0, 9999),
        st.integers(0, 12),
        st.integers(0, 31),
        st.integers(0, 23),
        st.integers(0, 59),
        st.integers(0, 59),
    )
    packed = parts.map(
        lambda p: (
            1 << 39 | (p[0] * 13 + p[1]) << 22 | p[2] << 17 | p[3] << 12 | p[4] << 6 | p[5]
        ).to_bytes(5, "big")
    )
    return st.tuples(packed, fraction(precision)).map(b"".join)


def timestamps(precision: int) -> Octets:
    seconds = st.one_of(st.just(0), st.integers(0, 2**32 - 1)).map(
        lambda value: value.to_bytes(4, "big")
    )
    return st.tuples(seconds, fraction(precision)).map(b"".join)


def times(precision: int) -> Octets:
    width, limit = _FRACTIONS[precision]
    parts = st.tuples(
        st.booleans(),
        st.integers(0, 838),
        st.integers(0, 59),
        st.integers(0, 59),
        st.integers(0, limit - 1),
    )

    def packed(parts: tuple[bool, int, int, int, int]) -> bytes:
        negative, hour, minute, second, part = parts
        value = (hour << 12 | minute << 6 | second) << 8 * width | part
        zero = 1 << 8 * (3 + width) - 1
        return (zero - value if negative else zero + value).to_bytes(3 + width, "big")

    return parts.map(packed)


def column(kind: int, metadata: bytes, values: Octets, **more: Any) -> Case:
    return {"type": kind, "metadata": metadata, **more}, values


def dates() -> Octets:
    parts = st.tuples(st.integers(0, 9999), st.integers(0, 12), st.integers(0, 31))
    return parts.map(lambda d: (d[0] << 9 | d[1] << 5 | d[2]).to_bytes(3, "little"))


def floats(code: str, width: int) -> Octets:
    any_number = st.floats(width=32 if width == 4 else 64, allow_nan=False, allow_infinity=False)
    few_digits = st.builds(
        lambda digits, fingerprints: digits / 10**fingerprints,
        st.integers(-(10**16), 10**16),
        st.integers(0, 20),
    )
    halves = st.builds(
        lambda digits, fingerprints: digits / 2**fingerprints,
        st.integers(0, 2**24),
        st.integers(0, 23),
    )
    numbers = st.one_of(any_number, few_digits, halves)
    return numbers.map(lambda value: struct.pack(code, value))


def one_byte(most: int) -> Octets:
    return st.integers(0, most).map(lambda value: bytes((value,)))


LABELS = ("a", "", 'quo"te', "ä,b")
_INTEGERS = ((1, 1), (2, 2), (9, 3), (3, 4), (8, 8))
_DECIMALS = ((10, 2), (65, 30), (9, 9), (1, 0), (20, 0), (38, 38), (19, 1))
_TEMPORALS = ((18, datetimes), (17, timestamps), (19, times))

CASES: tuple[Case, ...] = (
    *(
        column(kind, b"", integers(width), unsigned=unsigned)
        for kind, width in _INTEGERS
        for unsigned in (False, True)
    ),
    *(
        column(246, bytes((precision, scale)), decimals(precision, scale), unsigned=False)
        for precision, scale in _DECIMALS
    ),
    column(10, b"", dates()),
    *(
        column(kind, bytes((precision,)), make(precision))
        for kind, make in _TEMPORALS
        for precision in _FRACTIONS
    ),
    column(13, b"", integers(1), unsigned=True),
    column(15, b"\x50\x00", text(1, "utf-8", 20), collation=UTF8MB4),
    column(15, b"\x00\x04", text(2, "utf-8", 20), collation=UTF8MB4),
    column(15, b"\x20\x00", text(1, "latin-1", 20), collation=LATIN1),
    column(15, b"\x20\x00", text(1, "ascii", 20), collation=ASCII),
    column(15, b"\x20\x00", text(1, "gbk", 12), collation=GBK),
    column(15, b"\x20\x00", octets(1, 20), collation=BINARY),
    column(254, b"\xfe\x08", octets(1, 8), collation=BINARY),
    column(254, b"\xfe\x50", text(1, "utf-8", 10), collation=UTF8MB4),
    column(252, b"\x02", text(2, "utf-8", 60), collation=UTF8MB4),
    column(252, b"\x04", octets(4, 60), collation=BINARY),
    column(254, b"\xf7\x01", one_byte(4), labels=LABELS),
    column(254, b"\xf8\x01", one_byte(15), labels=LABELS),
    column(16, b"\x05\x00", one_byte(31)),
    column(16, b"\x00\x08", integers(8)),
    column(4, b"\x04", floats("<f", 4), unsigned=False),
    column(5, b"\x08", floats("<d", 8), unsigned=False),
    column(245, b"\x04", DOCUMENTS.map(lambda raw: len(raw).to_bytes(4, "little") + raw)),
    column(255, b"\x04", octets(4, 30)),
)
"""Every type that row images of today's servers hold."""

KEYS = (*CASES[:10], CASES[17], CASES[18], CASES[22], *CASES[30:33])
"""Those that may be a key of which the compiled printer knows the place."""

"""MariaDB's UUID, INET6 and INET4 as the server prints them."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import named_bytes
from relay.model.table import Column, ColumnType


def text(kind: str, length: int, raw: bytes) -> str:
    render = named_bytes(
        Column("c", ColumnType.STRING, nullable=True, length=length, charset="binary"), kind
    )
    assert render is not None
    return render(raw)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("0 0 0 0 0 0 0 0", "::"),
        ("0 0 0 0 0 0 0 1", "::1"),
        ("0 0 0 0 0 0 c000 201", "::192.0.2.1"),
        ("0 0 0 0 0 ffff c000 201", "::ffff:192.0.2.1"),
        ("0 0 0 0 0 fffe c000 201", "::fffe:c000:201"),
        ("1 0 0 0 0 0 0 0", "1::"),
        ("2001 db8 0 0 0 ff00 42 8329", "2001:db8::ff00:42:8329"),
        ("1 0 2 3 4 5 6 7", "1::2:3:4:5:6:7"),
        ("1 0 0 2 0 0 3 4", "1::2:0:0:3:4"),
        ("1 0 2 0 0 3 4 5", "1:0:2::3:4:5"),
    ],
)
def test_the_form_of_an_address(words: str, printed: str) -> None:
    raw = b"".join(int(word, 16).to_bytes(2, "big") for word in words.split())
    assert text("inet6", 16, raw.rstrip(b"\0")) == printed


@given(st.binary(min_size=16, max_size=16))
def test_addresses_can_be_read_back(raw: bytes) -> None:
    assert ipaddress.IPv6Address(text("inet6", 16, raw)).packed == raw
    assert ipaddress.IPv4Address(text("inet4", 4, raw[:4])).packed == raw[:4]
    assert bytes.fromhex(text("uuid", 16, raw.rstrip(b"\0")).replace("-", "")) == raw


def test_other_columns_are_none_of_them() -> None:
    binary = Column("c", ColumnType.STRING, nullable=True, length=16, charset="binary")
    assert named_bytes(binary, "binary(16)") is None
    assert named_bytes(binary, "inet4") is None
    assert (
        named_bytes(
            Column("c", ColumnType.STRING, nullable=True, length=16, charset="latin1"), "uuid"
        )
        is None
    )

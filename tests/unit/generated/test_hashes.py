"""Hashes of printed values are those of the partition room."""

from hypothesis import given
from hypothesis import strategies as st

from relay.generated import ColumnPlan, Kind, RowPrinter
from relay.generated.java_hashes import text_hash, utf8_hash
from relay.model.row_path import SlowReason
from relay.partition import java_hash

BITS_32 = 0xFFFF_FFFF


@given(st.text(max_size=40) | st.text(min_size=200, max_size=300) | st.text(st.characters(codec="ascii"), min_size=250, max_size=260))
def test_texts_are_hashed_as_java_does(text: str) -> None:
    if text.isascii():
        assert text_hash(text) & BITS_32 == java_hash(text) & BITS_32
    assert utf8_hash(text.encode().decode("latin-1")) & BITS_32 == java_hash(text) & BITS_32


@given(st.integers(-(2**63), 2**64 - 1) | st.integers(-20_000, 20_000) | st.sampled_from([0, 9_999, 10_000, 99_999_999, 100_000_000]))
def test_numbers_are_hashed_as_their_digits(number: int) -> None:
    kind, raw = (
        (Kind.UNSIGNED, number.to_bytes(8, "little")) if number >= 2**63 else (Kind.SIGNED, number.to_bytes(8, "little", signed=True))
    )
    column: ColumnPlan = (int(kind), 8, False, False, False, 0, 0, b'{"id":', None)
    printed = RowPrinter([column], (), b"", (0,), 0, 2**32, worth_bytes=0).print_rows(b"\0" + raw, 0, False, b"", b"", 1, 1, 0, None)
    assert not isinstance(printed, SlowReason)
    assert printed[3][0][0] == abs(java_hash(str(number)))

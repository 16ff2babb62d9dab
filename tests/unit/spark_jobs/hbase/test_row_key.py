"""Row keys: no two keys meet, text order stays, the values come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.errors import UnreadableRowKey
from spark_jobs.hbase.row_key import key_values, row_key, split_keys

# The characters that the encoding itself uses, their neighbours, and any other.
values = st.lists(
    st.text(st.sampled_from("\x00\x01\x02\xff^a") | st.characters(codec="utf-8"), max_size=4),
    min_size=1,
    max_size=3,
)
salts = st.sampled_from([0, 1, 7, 256])


def in_bytes(key: list[str]) -> list[bytes]:
    return [value.encode() for value in key]


def test_a_key_of_one_value_is_that_value() -> None:
    assert row_key(["17"]) == b"17"


def test_the_values_of_a_composite_key_are_apart() -> None:
    assert row_key(["a", "bc"]) == b"a\x00\x01bc"
    assert (
        len(
            {
                row_key(key)
                for key in (["a", "bc"], ["ab", "c"], ["abc"], ["a\x00", "bc"], ["a", "\x01bc"])
            }
        )
        == 5
    )


def test_no_row_key_is_empty() -> None:
    assert row_key([""]) == b"\x00\x00"
    assert len({row_key(key) for key in ([""], ["", ""], ["\x00"], ["\x00", ""])}) == 4


@given(values, salts)
def test_the_values_come_back(key: list[str], salt_buckets: int) -> None:
    assert key_values(row_key(key, salt_buckets), salt_buckets) == key


@given(values, values)
def test_row_keys_sort_as_their_values_do(one: list[str], other: list[str]) -> None:
    assert (row_key(one) < row_key(other)) == (in_bytes(one) < in_bytes(other))


@given(values, st.integers(1, 256))
def test_the_salt_is_one_byte_below_the_number_of_buckets(
    key: list[str], salt_buckets: int
) -> None:
    salted = row_key(key, salt_buckets)
    assert (salted[0] < salt_buckets, salted[1:]) == (True, row_key(key))


def test_a_table_with_salt_has_a_region_for_each_bucket() -> None:
    assert split_keys(0) == split_keys(1) == []
    assert split_keys(3) == [b"\x01", b"\x02"]


@pytest.mark.parametrize(
    ("row", "salt_buckets"), [(b"", 0), (b"\xff", 0), (b"a\x00", 0), (b"\x0117", 1), (b"", 4)]
)
def test_what_the_jobs_did_not_write_is_refused(row: bytes, salt_buckets: int) -> None:
    with pytest.raises(UnreadableRowKey):
        key_values(row, salt_buckets)

"""What is kept of a table's versions."""

import pytest

from spark_jobs.errors import JobConfigurationError
from spark_jobs.hbase.catalogue import KnownTable


def test_versions_are_kept_once_in_the_order_in_which_they_were_seen() -> None:
    known = KnownTable([], []).with_versions(["a", "b"], ["id"]).with_versions(["b", "c"], [])
    assert known == KnownTable(["a", "b", "c"], ["id"])
    assert known.with_versions(["a"], ["id"]).text() == known.text()


def test_what_is_kept_comes_back() -> None:
    known = KnownTable(['{"é":"int"}'], ["é", "b"])
    assert KnownTable.of(known.text()) == known


def test_a_salt_is_noted_once_and_no_other_is_taken() -> None:
    before_salts_were_noted = KnownTable.of(b'{"versions":["a"],"key_columns":["id"]}')
    known = before_salts_were_noted.salted("shop.orders", 4)
    assert known == KnownTable(["a"], ["id"], 4)
    assert known.with_versions(["b"], []).salted("shop.orders", 4).salt_buckets == 4
    with pytest.raises(
        JobConfigurationError,
        match=r"shop\.orders was written with hbase\.salt_buckets = 4, and the file says 0",
    ):
        known.salted("shop.orders", 0)

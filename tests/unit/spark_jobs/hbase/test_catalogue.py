"""What is kept of a table's versions."""

import pytest

from spark_jobs.errors import InstancesMixed, JobConfigurationError
from spark_jobs.hbase.catalogue import Feed, KnownTable


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
        match=r"shop\.orders was written with hbase\.salt_buckets = 4, and .* file has 0",
    ):
        known.salted("shop.orders", 0)


def feed(*instances: str, newest: str = "2") -> Feed:
    return Feed(frozenset(instances), newest)


def test_instances_are_noted_and_several_are_refused_by_name() -> None:
    known = KnownTable([], []).fed_by("shop.orders", feed("a", newest="5"))
    assert KnownTable.of(known.text()).fed_by("shop.orders", feed("a")) == known
    assert known.newest == "", "named instances are compared by their names"
    with pytest.raises(InstancesMixed, match=r"shop\.orders is published by the instances a, b,"):
        known.fed_by("shop.orders", feed("b"))
    with pytest.raises(InstancesMixed, match="a, b"):
        KnownTable([], []).fed_by("shop.orders", feed("a", "b"))


def test_the_greatest_order_of_unnamed_instances_is_noted() -> None:
    known = KnownTable([], []).fed_by("shop.orders", feed("", newest="2"))
    assert known.fed_by("shop.orders", feed("", newest="1")).newest == "2"
    assert KnownTable.of(known.fed_by("shop.orders", feed("", newest="3")).text()).newest == "3"
    assert known.fed_by("shop.orders", feed(newest="9")) == known, "nobody asks for instances"


def test_an_entry_without_instances_has_its_former_text() -> None:
    """A former release reads it."""
    assert KnownTable(["a"], ["id"], 0).text() == (
        b'{"versions":["a"],"key_columns":["id"],"salt_buckets":0}'
    )

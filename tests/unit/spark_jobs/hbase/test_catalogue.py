"""What is kept of a table's versions."""

from spark_jobs.hbase.catalogue import KnownTable


def test_versions_are_kept_once_in_the_order_in_which_they_were_seen() -> None:
    known = KnownTable([], []).with_versions(["a", "b"], ["id"]).with_versions(["b", "c"], [])
    assert known == KnownTable(["a", "b", "c"], ["id"])
    assert known.with_versions(["a"], ["id"]).text() == known.text()


def test_what_is_kept_comes_back() -> None:
    known = KnownTable(['{"é":"int"}'], ["é", "b"])
    assert KnownTable.of(known.text()) == known

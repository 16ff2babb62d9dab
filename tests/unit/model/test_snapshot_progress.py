"""How the progress of a copy meets tables that get other names."""

from dataclasses import replace

import pytest

from relay.model.records.snapshot_progress import SnapshotProgress, mark

BEGUN = SnapshotProgress(
    "shop.z", ("id",), ("int",), ("7",), rows=9, tables=1, finished=(mark("shop.a"),)
)


def test_a_table_that_is_finished_is_named_once_and_nothing_is_read_behind_its_key() -> None:
    ended = BEGUN.finishing("shop.z")
    assert ended.finished == (mark("shop.a"), mark("shop.z"))
    assert (ended.after, ended.key, ended.rows) == ((), (), 9)
    assert ended.finishing("shop.z") == ended


@pytest.mark.parametrize("name", ["shop.a", "SHOP.A"])
def test_a_finished_name_that_another_table_may_have_is_copied_again(name: str) -> None:
    assert replace(BEGUN, done=True).renamed(["shop.b", name]) == replace(BEGUN, finished=())


def test_a_begun_name_that_another_table_may_have_begins_again() -> None:
    assert BEGUN.renamed(["shop.z", "shop.y"]) == replace(BEGUN, after=())


def test_other_names_change_nothing() -> None:
    ended = replace(BEGUN, done=True)
    assert ended.renamed(["shop.b", "shop.c"]) is ended
    assert ended.renamed([]) is ended

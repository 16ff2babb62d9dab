"""A change as cells and back, with whatever older changes have left in the row."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.hbase.cells import (
    Cell,
    Change,
    Stored,
    change_in,
    covering_cells,
    guard_cells,
    value_cells,
)

columns = st.dictionaries(
    st.sampled_from(["id", "note", "é", "gone"]),
    st.none() | st.sampled_from(["", "a", "b"]),
    max_size=4,
)
changes = st.lists(st.tuples(st.booleans(), columns), min_size=1, max_size=5).map(
    lambda drawn: [
        Change(f"{1_700_000_000_000:013d}.{number:019d}", deleted, row)
        for number, (deleted, row) in enumerate(drawn, 1)
    ]
)


def put(cells: Sequence[Cell], position: int) -> list[Stored]:
    return [(*cell, position) for cell in cells]


def as_read(change: Change) -> Change:
    return Change(change.order, change.deleted, {} if change.deleted else change.columns)


def test_the_cells_of_a_change_are_text() -> None:
    change = Change("0000000001234.0000000000000000005", False, {"id": "17", "note": None})
    assert value_cells(change) == [(b"info", b"id", b"17")]
    assert covering_cells(change) == [
        (b"info", b"id", b"17"),
        (b"info", b"note", b""),
        (b"update_info", b"nulls", b'["note"]'),
    ]
    assert guard_cells(change) == [
        (b"update_info", b"execute_time", b"1234"),
        (b"update_info", b"execute_position", b"5"),
        (b"update_info", b"order", b"0000000001234.0000000000000000005"),
    ]
    assert change.position == 5


def test_a_delete_covers_the_columns_and_leaves_the_guards() -> None:
    change = Change("0000000001234.0000000000000000005", True, {"id": "17", "note": None})
    assert value_cells(change) == []
    assert covering_cells(change) == [(b"info", b"id", b""), (b"info", b"note", b"")]
    assert (b"update_info", b"deleted", b"1") in guard_cells(change)


@given(changes, st.randoms(use_true_random=False))
def test_the_newest_change_shows_whichever_came_last(
    history: list[Change], chance: random.Random
) -> None:
    """All cells of all changes, in any order: what HBase would show at most."""
    cells = [
        cell
        for change in history
        for cell in put([*covering_cells(change), *guard_cells(change)], change.position)
    ]
    chance.shuffle(cells)
    assert change_in(cells) == as_read(history[-1])


@given(
    changes.filter(lambda history: all(value is not None for value in history[-1].columns.values()))
)
def test_a_row_whose_older_cells_were_removed_shows_its_change(history: list[Change]) -> None:
    newest = history[-1]
    assert change_in(put([*value_cells(newest), *guard_cells(newest)], newest.position)) == as_read(
        newest
    )


@pytest.mark.parametrize("cells", [[], [(b"info", b"id", b"1", 7)]])
def test_a_row_without_an_order_is_not_of_the_jobs(cells: list[Stored]) -> None:
    assert change_in(cells) is None

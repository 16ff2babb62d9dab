"""What renames make of names: the same as carrying them out one after the other on a row."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.envelope import ColumnRename, renamed_text
from spark_jobs.apply.renames.names import Rename, Span, names_of, renamed_by, spans
from spark_jobs.apply.renames.store import KeptRename, by_place, renames_above

COLUMNS = st.sampled_from("abcd")
# Servers refuse two columns of one name, so that new names differ; a new name may be one that the
# table had before.
NAMES = st.dictionaries(COLUMNS, COLUMNS, max_size=3).filter(
    lambda names: len(set(names.values())) == len(names)
)
ROWS = st.dictionaries(COLUMNS, st.integers(), max_size=4)


def carried_out(row: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    kept = {
        name: value for name, value in row.items() if name in names or name not in names.values()
    }
    return {names.get(name, name): value for name, value in kept.items()}


@given(ROWS, st.lists(NAMES, max_size=4))
def test_successive_renames_are_one(
    row: dict[str, int], renames: Sequence[Mapping[str, str]]
) -> None:
    expected = dict(row)
    for names in renames:
        expected = carried_out(expected, names)
    at_once = renamed_by(renames)
    found = {at_once.get(name, name): value for name, value in row.items()}
    found.pop(None, None)
    assert found == expected


def rename(order: str, **names: str) -> Rename:
    return Rename(order, renamed_text([ColumnRename(old, new) for old, new in names.items()]))


def test_changes_get_the_names_of_all_renames_behind_them() -> None:
    assert list(spans([rename("2", b="c"), rename("1", a="b")])) == [
        Span("", "1", {"a": "c", "b": None, "c": None}),
        Span("1", "2", {"b": "c", "c": None}),
    ]


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        ([("a", "A")], {}),
        ([("A", "b"), ("b", "a")], {"a": "b", "b": "a"}),
        ([("Ä", "x")], {"ä": "x"}),
        ([], {}),
    ],
)
def test_names_are_compared_without_their_case(
    pairs: list[tuple[str, str]], names: dict[str, str]
) -> None:
    assert names_of(renamed_text([ColumnRename(old, new) for old, new in pairs])) == names


def test_only_renames_above_the_oldest_change_of_their_table_concern_a_batch() -> None:
    kept = [
        KeptRename(place, rename(order, a="b"), done=True)
        for place, order in ((("t", "i/d.x"), "5"), (("t", "i/d.x"), "3"))
    ]
    renames = by_place(kept)
    assert [each.order for each in renames["t", "i/d.x"]] == ["3", "5"]
    assert renames_above(renames, {"t": "4"}) == renames
    assert renames_above(renames, {"t": "5"}) == renames_above(renames, {"u": "1"}) == {}

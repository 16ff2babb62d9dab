from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.transforms import GUARDS, columns_of_copy

names = st.lists(st.text("abAB_é", min_size=1, max_size=3), max_size=8)


def test_the_copys_own_spelling_stays_and_new_columns_follow() -> None:
    assert columns_of_copy([*GUARDS, "Id", "note"], ["ID", "added", "note"]) == {"Id": ["Id", "ID"], "note": ["note"], "added": ["added"]}


@given(names, names)
def test_every_column_is_there_once_whatever_its_case(present: list[str], seen: list[str]) -> None:
    columns = columns_of_copy(present, seen)
    folded = [name.lower() for name in columns]
    assert sorted(folded) == sorted({name.lower() for name in [*present, *seen]})
    assert {spelling for spellings in columns.values() for spelling in spellings} >= set(seen)


@given(names)
def test_the_same_batch_again_brings_no_column(seen: list[str]) -> None:
    columns = list(columns_of_copy((), seen))
    assert list(columns_of_copy(columns, seen)) == columns

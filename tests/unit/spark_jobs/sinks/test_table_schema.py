from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.transforms import TableSchema, column_types, spellings

names = st.lists(st.text("abAB_é", min_size=1, max_size=3), max_size=8)


def test_the_newest_version_gives_the_order_and_every_version_the_type() -> None:
    older, newer = (
        TableSchema.of('{"id":"int","n":"varchar(3)","gone":"date"}'),
        TableSchema.of('{"added":"blob","ID":"bigint","n":"text"}'),
    )
    found = {name: kind.simpleString() for name, kind in column_types([older, newer]).items()}
    assert found == {"added": "binary", "ID": "bigint", "n": "string", "gone": "date"}
    assert list(found) == ["added", "ID", "n", "gone"]


def test_a_message_without_types_has_text() -> None:
    for nothing in (None, "", "null", "[]"):
        assert TableSchema.of(nothing, ["a"]).mysql_types == {"a": "text"}
    assert TableSchema.of('{"a":"int"}', ["a", "b"]).mysql_types == {"b": "text", "a": "int"}


def test_the_copys_own_spelling_stays_and_new_columns_follow() -> None:
    assert spellings(["ID", "added", "note"], ["Id", "note"]) == {
        "Id": ["Id", "ID"],
        "note": ["note"],
        "added": ["added"],
    }


@given(names, names)
def test_every_column_is_there_once_whatever_its_case(present: list[str], seen: list[str]) -> None:
    columns = spellings(seen, present)
    folded = [name.lower() for name in columns]
    assert sorted(folded) == sorted({name.lower() for name in [*present, *seen]})
    assert {spelling for known in columns.values() for spelling in known} >= set(seen)


@given(names)
def test_the_same_batch_again_brings_no_column(seen: list[str]) -> None:
    columns = list(spellings(seen))
    assert list(spellings(seen, columns)) == columns

"""Floors of real tables: they rise, in any order, and concern only batches with older changes."""

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.apply.truncates.floors import floors_above, raised

PLACES = st.tuples(st.sampled_from(["shop.a", "shop.b"]), st.sampled_from(["one/db.t", "two/db.t"]))
FLOORS = st.dictionaries(PLACES, st.integers(1, 9).map(str), max_size=4)


@given(st.lists(FLOORS, max_size=4))
def test_floors_are_the_greatest_whatever_came_first(
    news: list[dict[tuple[str, str], str]],
) -> None:
    found: dict[tuple[str, str], str] = {}
    for each in news:
        found = dict(raised(found, each))
    assert found == {
        place: max(each[place] for each in news if place in each) for each in news for place in each
    }
    assert dict(raised(found, found)) == found


def test_only_floors_above_the_oldest_change_of_their_table_concern_a_batch() -> None:
    floors = {("shop.a", "one/db.t"): "5", ("shop.a", "two/db.t"): "3", ("shop.b", "one/db.t"): "9"}
    assert floors_above(floors, {"shop.a": "4"}) == {("shop.a", "one/db.t"): "5"}
    assert floors_above(floors, {"shop.a": "5"}) == {}

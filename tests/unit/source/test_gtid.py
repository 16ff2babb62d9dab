"""GTID sets: text, union, membership; the library's own sets are the judge where it has them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysqlreplication.gtid import GtidSet as LibrarySet

from relay.model.positions.gtid import GtidSet

A = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
B = "4e11fa47-71ca-11e1-9e33-c80aa9429562"

numbers = st.sets(st.integers(1, 40), max_size=25)


def text_of(uuid: str, members: set[int]) -> list[str]:
    return [f"{uuid}:{number}" for number in members]


@given(a=numbers, b=numbers, order=st.randoms(use_true_random=False))
def test_a_set_built_in_any_order_has_the_text_of_the_library(
    a: set[int], b: set[int], order: random.Random
) -> None:
    parts = [*text_of(A, a), *text_of(B, b)]
    order.shuffle(parts)
    ours = GtidSet()
    library = LibrarySet("")
    for part in parts:
        ours = ours.with_gtid(part)
        library = library + LibrarySet(part)
    assert sorted(str(ours).split(",")) == sorted(str(library).split(","))


@given(held=numbers, wanted=numbers)
def test_union_membership_and_difference_are_those_of_plain_sets(
    held: set[int], wanted: set[int]
) -> None:
    ours, others = (
        GtidSet.parse(",".join(text_of(A, held))),
        GtidSet.parse(",".join(text_of(A, wanted))),
    )
    assert ours.covers(others) is (wanted <= held)
    assert ours.without(others) == GtidSet.parse(",".join(text_of(A, held - wanted)))
    assert ours.with_all(others) == GtidSet.parse(",".join(text_of(A, held | wanted)))
    for number in range(1, 42):
        assert ours.contains(f"{A}:{number}") is (number in held)


ids = st.one_of(
    st.builds("{}:{}".format, st.sampled_from([A, B, f"{A}:tag"]), st.integers(1, 40)),
    st.builds("{}-{}-{}".format, st.integers(0, 2), st.integers(1, 2), st.integers(1, 40)),
)


@given(held=numbers, added=st.lists(ids, max_size=40))
def test_many_ids_at_once_give_the_set_that_one_after_the_other_gives(
    held: set[int], added: list[str]
) -> None:
    ours = GtidSet.parse(",".join(text_of(A, held)))
    one_by_one = ours
    for text in added:
        one_by_one = one_by_one.with_gtid(text)
    assert ours.with_each(added) == one_by_one


@given(a=numbers, b=numbers)
def test_text_reads_back(a: set[int], b: set[int]) -> None:
    whole = GtidSet.parse(",".join([*text_of(A, a), *[f"{A}:tag_1:{n}" for n in b], "0-1-7"]))
    assert GtidSet.parse(str(whole)) == whole


def test_tags_stand_behind_their_uuid_as_the_server_prints_them() -> None:
    text = f"{A.upper()}:1-3:5:taggy:1-2:other:9,\n{B}:7"
    assert str(GtidSet.parse(text)) == f"{A}:1-3:5:other:9:taggy:1-2,{B}:7"
    assert GtidSet.parse(text).contains(f"{A}:taggy:2")
    assert not GtidSet.parse(text).contains(f"{A}:2-5")


def test_a_mariadb_domain_holds_its_newest_id() -> None:
    state = GtidSet.parse("1-7-10,0-3-5").with_gtid("1-8-11")
    assert str(state) == "0-3-5,1-8-11"
    assert state.contains("1-7-4")
    assert not state.contains("0-3-6")
    assert not state.contains("2-1-1")
    assert str(state.without(GtidSet.parse("1-8-11"))) == "0-3-5"


@pytest.mark.parametrize(
    "text",
    ["x", A, f"{A}:0", f"{A}:5-3", f"{A}:taggy", "1-2", f"{A}:1-2-3", f"{A}:ünder:1", "1-2-3-4"],
)
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"GTID|transaction|interval"):
        GtidSet.parse(text)


def test_the_empty_text_is_the_empty_set() -> None:
    assert GtidSet.parse("").empty
    assert str(GtidSet()) == ""
    assert GtidSet().covers(GtidSet())

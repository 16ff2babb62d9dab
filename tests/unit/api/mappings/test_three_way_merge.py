"""An edit is applied to a newer set entry by entry, and nothing of either side is lost."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.services.mappings.three_way_merge import Clash, merged
from relay.route import DBS, TAGS, TBS, TOPICS

_NAMES = st.sampled_from(["a", "b", "c", "d"])
_LISTS = st.lists(st.sampled_from(["r1", "r2", "r3", "r4"]), unique=True, min_size=1).map(",".join)
_TBS = st.dictionaries(_NAMES, _LISTS).map(
    lambda found: [{"logicTb": key, "realTbs": names} for key, names in found.items()]
)
_TOPICS = st.dictionaries(_NAMES, st.sampled_from(["t1", "t2"])).map(
    lambda found: [{"logicDb": key, "topic": topic} for key, topic in found.items()]
)
_SETS = st.fixed_dictionaries({TBS: _TBS, TOPICS: _TOPICS}).map(
    lambda found: {data_id: json.dumps(body) for data_id, body in found.items()}
)


def tbs(**names: str) -> dict[str, str]:
    return {TBS: json.dumps([{"logicTb": key, "realTbs": each} for key, each in names.items()])}


def read(bodies: Any) -> dict[str, str]:
    return {each["logicTb"]: each["realTbs"] for each in json.loads(bodies[TBS])}


def topic_of(bodies: Any, name: str) -> str | None:
    found = [
        each["topic"] for each in json.loads(bodies.get(TOPICS, "[]")) if each["logicDb"] == name
    ]
    return found[0] if found else None


@given(_SETS, _SETS)
def test_one_side_alone_is_taken_byte_for_byte(base: dict[str, str], other: dict[str, str]) -> None:
    for result in (
        merged(base, other, base),
        merged(base, base, other),
        merged(base, other, other),
    ):
        assert (result.bodies, result.clashes, result.unread) == (other, (), ())


@given(_SETS, _SETS, _SETS)
def test_every_entry_is_that_of_the_side_that_changed_it_or_a_clash(
    base: dict[str, str], mine: dict[str, str], theirs: dict[str, str]
) -> None:
    result = merged(base, mine, theirs)
    clashing = [each for each in result.clashes if each.data_id == TOPICS]
    for name in "abcd":
        old, my, their, now = (topic_of(each, name) for each in (base, mine, theirs, result.bodies))
        if my == old or their == my:
            assert now == their
        elif their == old:
            assert now == my
        else:
            assert now == their
            written = json.dumps({"logicDb": name, "topic": my}) if my else ""
            assert written in [each.mine for each in clashing]


@given(_LISTS, _LISTS, _LISTS)
def test_names_that_each_side_adds_or_removes_are_joined(base: str, mine: str, theirs: str) -> None:
    result = merged(tbs(a=base), tbs(a=mine), tbs(a=theirs))
    old, my, their = (set(each.split(",")) for each in (base, mine, theirs))
    now = set(read(result.bodies)["a"].split(",")) - {""}
    assert now == (their - (old - my)) | (my - old)
    assert not result.clashes


def test_two_new_shards_are_both_kept() -> None:
    base, mine, theirs = tbs(a="x", b="y"), tbs(a="x,x2", b="y"), tbs(a="x", b="y", c="z")
    assert read(merged(base, mine, theirs).bodies) == {"a": "x,x2", "b": "y", "c": "z"}


def test_an_entry_that_one_removed_and_the_other_changed_is_told() -> None:
    result = merged(tbs(a="x"), {TBS: "[]"}, tbs(a="x,y"))
    assert result.clashes == (Clash(TBS, "", '{"logicTb": "a", "realTbs": "x,y"}'),)
    assert read(result.bodies) == {"a": "x,y"}


def test_positional_lists_are_never_joined() -> None:
    base, mine, theirs = (
        {TAGS: json.dumps([{"logicTb": "a,f", "tag": f"a,{tag}"}])} for tag in "123"
    )
    result = merged(base, mine, theirs)
    assert [each.mine for each in result.clashes] == ['{"logicTb": "a,f", "tag": "a,2"}']
    assert json.loads(result.bodies[TAGS]) == [{"logicTb": "a,f", "tag": "a,3"}]


def test_a_document_that_is_not_json_is_left_as_it_was_typed() -> None:
    result = merged({DBS: "[]"}, {DBS: "[{"}, {DBS: '[{"logicDb":"a","realDbs":"a"}]'})
    assert (result.unread, result.bodies) == ((DBS,), {DBS: "[{"})

"""An edit is applied to a newer set entry by entry, and nothing of either side is lost."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.services.mappings.merge.three_way_merge import Clash, merged
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


def tags(*entries: tuple[str, str]) -> dict[str, str]:
    return {TAGS: json.dumps([{"logicTb": table, "tag": tag} for table, tag in entries])}


def read_tags(bodies: Any) -> list[tuple[str, str]]:
    return [(each["logicTb"], each["tag"]) for each in json.loads(bodies[TAGS])]


_MANY_TAGS = st.lists(
    st.sampled_from([("a", "1"), ("a", "2"), ("a", "3"), ("b", "1")]), unique=True
)


@given(_MANY_TAGS, _MANY_TAGS, _MANY_TAGS)
def test_an_entry_that_either_side_removed_stays_removed(
    base: list[tuple[str, str]], mine: list[tuple[str, str]], theirs: list[tuple[str, str]]
) -> None:
    result = merged(tags(*base), tags(*mine), tags(*theirs))
    now = set(read_tags(result.bodies)) if result.bodies else set()
    for each in base:
        assert each not in now or each in theirs, "they removed it"
        assert each not in now or each in mine or result.clashes, "I removed it"
    for each in {*mine, *theirs} - set(base):
        assert each in now or result.clashes, "it was added"


def test_each_side_removes_another_entry_of_a_table() -> None:
    one, two, other = ("a", "1"), ("a", "2"), ("b", "1")
    result = merged(tags(one, two, other), tags(two, other), tags(one, other))
    assert (read_tags(result.bodies), result.clashes) == ([other], ())


def test_an_edit_of_fields_does_not_bring_a_removed_entry_back() -> None:
    result = merged(
        tags(("a,f", "a,1"), ("b", "b")), tags(("a,f,g", "a,1,2"), ("b", "b")), tags(("b", "b"))
    )
    assert read_tags(result.bodies) == [("b", "b")]
    assert [each.mine for each in result.clashes] == ['{"logicTb": "a,f,g", "tag": "a,1,2"}']


def test_a_removed_name_does_not_come_back_under_another_entry() -> None:
    base, mine, theirs = tbs(a="x,y", b="z"), tbs(a="y", b="z,x"), tbs(a="y", b="z", c="w")
    result = merged(base, mine, theirs)
    assert read(result.bodies) == {"a": "y", "b": "z", "c": "w"}
    assert [json.loads(each.mine)["realTbs"] for each in result.clashes] == ["z,x"]


def test_a_renamed_entry_does_not_bring_the_removed_one_back() -> None:
    result = merged(tbs(a="x", b="y"), tbs(a2="x", b="y"), tbs(b="y"))
    assert read(result.bodies) == {"b": "y"}
    assert [json.loads(each.mine)["logicTb"] for each in result.clashes] == ["a2"]

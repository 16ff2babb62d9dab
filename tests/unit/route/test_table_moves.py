"""Which topics the tables of a database leave, by the topics of two mapping sets."""

import json

import pytest

from relay.route import DATA_IDS, EarlyReturn, MappingSet, early_returns, table_moves

EACH = "{db}.{table}"
PREFIXED = "new.{db}.{table}"


def mapping(number: int, topic: str | None) -> MappingSet:
    bodies: dict[str, object] = {"dbs": [{"logicDb": "shop", "realDbs": "shop"}]}
    if topic is None:
        bodies = {}
    else:
        bodies["topics"] = [{"logicDb": "shop", "topic": topic}]
    return MappingSet.compile(
        number, {each: json.dumps(bodies.get(each.rsplit(".")[-1], [])) for each in DATA_IDS}
    )


def left(before: str | None, after: str | None, *fed: str) -> list[tuple[str, tuple[str, ...]]]:
    moves = list(table_moves(mapping(1, before), mapping(2, after), fed))
    assert all((each.database, each.number) == ("shop", 2) for each in moves)
    return [(each.topic, each.to) for each in moves]


@pytest.mark.parametrize(
    ("before", "after", "fed", "expected"),
    [
        ("a", "b", ("a", "b", "z"), [("a", ("b",))]),
        ("a", "b", ("z",), []),  # the instance published nothing there
        ("a", "a", ("a",), []),
        ("a,b", "b,a", ("a", "b"), []),  # every topic has all rows still
        ("a,b", "b", ("a", "b"), [("a", ("b",))]),
        ("a", None, ("a",), [("a", ())]),
        (None, "a", ("a",), []),
        ("a", EACH, ("a", "shop.t"), [("a", (EACH,))]),
        (EACH, "a", ("a", "shop.t", "crm.t"), [("shop.t", ("a",))]),
        (EACH, PREFIXED, ("shop.t", "shop.u"), [("shop.t", (PREFIXED,)), ("shop.u", (PREFIXED,))]),
        ("shop.t", EACH, ("shop.t",), [("shop.t", (EACH,))]),  # of all tables but t
        (EACH, "shop.t", ("shop.t", "shop.u"), [("shop.u", ("shop.t",))]),
        ("{db}.{tag}", "a", ("shop.t",), []),  # depends on the tags of each table
        ("a", "{db}.{tag}", ("a",), []),
    ],
)
def test_a_database_leaves_the_fed_topics_that_it_has_no_more(
    before: str | None,
    after: str | None,
    fed: tuple[str, ...],
    expected: list[tuple[str, tuple[str, ...]]],
) -> None:
    assert left(before, after, *fed) == expected


A, B, C = "a", "b", "c"


@pytest.mark.parametrize(
    ("topics", "published", "behind"),
    [
        ((A, B, A), {"x": 1, "y": 0}, ("y",)),
        ((A, B, A), {"x": 1, "y": None}, ("y",)),  # its relay has not told
        ((A, B, A), {"x": 1, "y": 1}, ()),
        ((A, B, C, A), {"x": 2, "y": 1}, ()),  # has left a
        ((A, B, C, A), {"x": 0, "y": 0}, ("x", "y")),
        ((A, B, C), {"x": 1, "y": 0}, ()),  # c is new
        ((A, B, A, A), {"y": 0}, ()),  # nothing comes back with the last set
        ((A, B, A, B, A), {"y": 2}, ("y",)),
        ((A, B, A, B, A), {"y": 3}, ()),
        ((A, None, A), {"y": 0}, ("y",)),  # was not mapped between
        (("a,b", B, "a,b"), {"y": 0}, ("y",)),
        ((EACH, B, EACH), {"y": 0}, ("y",)),
        (("{db}.{tag}", B, "{db}.{tag}"), {"y": 0}, ()),  # has no markers
        ((A, B, A), {}, ()),
    ],
)
def test_a_topic_comes_back_when_no_instance_feeds_it_under_a_set_of_before(
    topics: tuple[str | None, ...], published: dict[str, int | None], behind: tuple[str, ...]
) -> None:
    sets = [mapping(number, topic) for number, topic in enumerate(topics)]
    fed = (A, "shop.t")
    found = list(early_returns(sets[-2], sets[-1], fed, lambda _: published, lambda at: sets[at]))
    assert all(each.number == len(sets) - 1 for each in found)
    assert [each.behind for each in found] == ([behind] if behind else [])


def test_sets_that_cannot_be_read_hold_nothing_back() -> None:
    sets = {0: mapping(0, A), 2: mapping(2, B)}
    returned = mapping(3, A)
    found = list(early_returns(sets[2], returned, (A,), lambda _: {"y": 1}, sets.get))
    assert found == []
    found = list(early_returns(sets[2], returned, (A,), lambda _: {"y": 0}, sets.get))
    assert found == [EarlyReturn("shop", A, 3, ("y",))]

"""Spaces around names do not count, in comma lists and in JSON lists alike."""

import json
from typing import Any

import pytest

from relay.errors import MappingRefused
from relay.model.table import TableId
from relay.route import MappingSet, problems

DBS, TBS, TOPICS, TAGS = (f"com.pajk.Roma.{word}" for word in ("dbs", "tbs", "topics", "tags"))


def documents(names: Any, **others: Any) -> dict[str, str]:
    bodies: dict[str, Any] = {
        DBS: [{"logicDb": "shop", "realDbs": names}],
        TOPICS: [{"logicDb": "shop", "topic": "shop"}],
    }
    return {data_id: json.dumps(body) for data_id, body in {**bodies, **others}.items()}


@pytest.mark.parametrize(
    "names",
    [
        "shop_01, shop_02 ",
        ["shop_01", "shop_02 "],
        ["\tshop_01", " shop_02\n"],
        ["shop_01", " /shop_02/ "],
    ],
)
def test_a_shard_is_mapped_whatever_spaces_are_around_its_name(names: Any) -> None:
    mapping = MappingSet.compile(1, documents(names))
    assert [mapping.logical_database(name) for name in ("shop_01", "shop_02")] == ["shop", "shop"]


def test_the_same_holds_for_tables_topics_and_tags() -> None:
    others = {
        TBS: [{"logicTb": "user", "realTbs": ["user_1 ", " shop_01 . user_2 "]}],
        TOPICS: [{"logicDb": " shop ", "topic": [" rows", "audit "]}],
        TAGS: [{"logicTb": [" user ", " paid "], "tag": [" u", "p "]}],
    }
    mapping = MappingSet.compile(1, documents(["shop_01"], **others))
    assert (
        mapping.logical_table(TableId("shop_01", "user_1"), "shop")
        == mapping.logical_table(TableId("shop_01", "user_2"), "shop")
        == "user"
    )
    assert mapping.topics("shop") == ("rows", "audit")
    tags = mapping.tags(TableId("shop", "user"))
    assert (tags.table, tags.fields) == (("u",), (("paid", "p"),))


def test_names_that_differ_by_spaces_are_refused_at_a_save_only() -> None:
    twice = {
        **documents([]),
        DBS: json.dumps(
            [{"logicDb": "shop", "realDbs": ["a"]}, {"logicDb": "other", "realDbs": ["a "]}]
        ),
        TOPICS: json.dumps([{"logicDb": name, "topic": name} for name in ("shop", "other")]),
    }
    assert len(problems(twice)) == 1
    mapping = MappingSet.compile(1, twice)
    assert (mapping.logical_database("a"), mapping.logical_database("a ")) == ("shop", "other")
    assert len(problems(documents(["a", 1]))) == 1
    with pytest.raises(MappingRefused):
        MappingSet.compile(1, documents(["a", ""]))


def test_a_name_of_spaces_is_empty() -> None:
    assert [each.sentence for each in problems(documents(["a", "  "]))] == [
        "The name number 2 of 2 is empty."
    ]

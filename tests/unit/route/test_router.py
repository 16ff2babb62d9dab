"""Where real tables go: precedence, unmapped names, tags."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import UnmappedName
from relay.model.table import TableId
from relay.route import Destination, Dropped, MappingSet, Router, Tags, field_tags_for, tags_for
from relay.settings import RoutingSettings
from tests.unit.route.mappings import DESIGN, documents, real, router


def destination(of: Router, table: str) -> Destination:
    route = of.route(real(table))
    assert isinstance(route, Destination)
    return route


@pytest.mark.parametrize("table", ["realDb11.realTb11", "realDb11.realTb12", "realDb12.realTb11"])
def test_every_shard_meets_in_one_logical_table_and_topic(table: str) -> None:
    found = destination(router(DESIGN), table)
    assert found.logical == TableId("logicDb1", "logicTb1")
    assert found.topics == ("topic1",)


def test_a_field_tag_is_carried_when_the_change_touches_the_field() -> None:
    found = destination(router(DESIGN), "realDb11.realTb11")
    assert tags_for(found, None) == ("tag1", "f1")
    assert tags_for(found, {"FIELD1"}) == ("tag1", "f1")
    assert tags_for(found, {"other"}) == ("tag1",)
    assert field_tags_for(found, {"other"}) == ()
    assert field_tags_for(found, None) == ("f1",)


def test_tag_entries_of_one_table_add_up_and_those_with_its_database_win() -> None:
    texts = documents(
        dbs=[{"logicDb": "a", "realDbs": "ra"}, {"logicDb": "b", "realDbs": "rb"}],
        topics=[{"logicDb": "a", "topic": "t"}, {"logicDb": "b", "topic": "t"}],
        tags=[
            {"logicTb": "user,x", "tag": "u,ux"},
            {"logicTb": "user,y", "tag": "u,uy"},
            {"logicTb": "b.user", "tag": "special"},
        ],
    )
    assert tags_for(destination(router(texts), "ra.user"), None) == ("u", "ux", "uy")
    assert tags_for(destination(router(texts), "rb.user"), None) == ("special",)
    assert tags_for(destination(router(texts), "ra.other"), None) == ("other",)


def test_a_rule_with_a_database_wins_over_one_without() -> None:
    texts = documents(
        dbs=[{"logicDb": "a", "realDbs": "ra,ra2"}, {"logicDb": "b", "realDbs": "rb"}],
        tbs=[
            {"logicTb": "users", "realTbs": "user"},
            {"logicTb": "clients", "realTbs": "ra2.user"},
            {"logicTb": "b.people", "realTbs": "user"},
        ],
        topics=[{"logicDb": "a", "topic": "t"}, {"logicDb": "b", "topic": "t"}],
    )
    of = router(texts)
    assert destination(of, "ra.user").logical == TableId("a", "users")
    assert destination(of, "ra2.user").logical == TableId("a", "clients")
    assert destination(of, "rb.user").logical == TableId("b", "people")


def test_a_name_in_slashes_is_a_regular_expression_over_the_whole_name() -> None:
    texts = documents(
        dbs=[{"logicDb": "shop", "realDbs": "/shop_\\d{2,3}/, shop"}],
        tbs=[
            {"logicTb": "order", "realTbs": "/order_\\d{4}/"},
            {"logicTb": "log", "realTbs": "/shop_\\d+/./l[.,]g/"},
        ],
        topics=[{"logicDb": "shop", "topic": "orders"}],
    )
    of = router(texts)
    assert destination(of, "shop_01.order_2024").logical == TableId("shop", "order")
    assert destination(of, "shop.order_20245").logical == TableId("shop", "order_20245")
    assert destination(of, "shop_01.l,g").logical == TableId("shop", "log")
    assert destination(of, "shop.l,g").logical == TableId("shop", "l,g")
    assert isinstance(of.route(real("shop_1.order_2024")), Dropped)


def test_one_logical_database_feeds_a_list_of_topics() -> None:
    for topic in ("a,b", ["a", "b"]):
        texts = documents(
            dbs=[{"logicDb": "d", "realDbs": ["r"]}], topics=[{"logicDb": "d", "topic": topic}]
        )
        assert destination(router(texts), "r.t").topics == ("a", "b")


def test_unmapped_tables_follow_the_setting() -> None:
    table = real("realDb11.unlisted")
    assert destination(router(DESIGN), str(table)).logical == TableId("logicDb1", "unlisted")
    assert isinstance(router(DESIGN, unmapped_table="drop").route(table), Dropped)
    with pytest.raises(UnmappedName, match=r"realDb11\.unlisted"):
        router(DESIGN, unmapped_table="stop").route(table)


def test_unmapped_databases_follow_the_setting() -> None:
    table = real("elsewhere.t")
    assert isinstance(router(DESIGN).route(table), Dropped)
    found = router(DESIGN, unmapped_db="default_topic", default_topic="rest").route(table)
    assert isinstance(found, Destination)
    assert (found.logical, found.topics, tags_for(found, None)) == (table, ("rest",), ("t",))
    with pytest.raises(UnmappedName, match="elsewhere"):
        router(DESIGN, unmapped_db="stop").route(table)


def test_real_names_keep_topic_and_tags() -> None:
    of = router(DESIGN, names="real")
    found = destination(of, "realDb11.realTb11")
    assert (found.logical, found.topics, tags_for(found, None)) == (
        real("realDb11.realTb11"),
        ("topic1",),
        ("tag1", "f1"),
    )
    assert tags_for(destination(of, "realDb11.unlisted_1"), None) == ("unlisted_1",)


def test_real_names_keep_a_tag_that_equals_the_logical_name_and_topics_by_tag() -> None:
    texts = documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop_1"}],
        tbs=[{"logicTb": "order", "realTbs": "o_1"}, {"logicTb": "bill", "realTbs": "b_1"}],
        topics=[{"logicDb": "shop", "topic": "{db}-{tag}"}],
        tags=[{"logicTb": "order", "tag": "order"}],
    )
    of = router(texts, names="real")
    listed, unlisted = destination(of, "shop_1.o_1"), destination(of, "shop_1.b_1")
    assert (listed.logical, listed.topics, tags_for(listed, None)) == (
        real("shop_1.o_1"), ("shop-order",), ("order",)
    )  # fmt: skip
    # Without an entry the tag is the name in the messages; the topic comes from the mapping.
    assert (unlisted.topics, tags_for(unlisted, None)) == (("shop-bill",), ("b_1",))


def test_a_statement_without_a_table_goes_by_its_database() -> None:
    assert router(DESIGN).route_database("realDb12") == Destination(
        TableId("logicDb1", ""), ("topic1",), Tags((), ())
    )
    assert isinstance(router(DESIGN).route_database(""), Dropped)


def test_two_expressions_that_meet_on_a_name_stop_the_instance() -> None:
    texts = documents(
        dbs=[{"logicDb": "d", "realDbs": "r"}],
        tbs=[{"logicTb": "a", "realTbs": "/x.*/"}, {"logicTb": "b", "realTbs": "/.*y/"}],
        topics=[{"logicDb": "d", "topic": "t"}],
    )
    of = router(texts)
    assert destination(of, "r.xa").logical.table == "a"
    assert destination(of, "r.ay").logical.table == "b"
    with pytest.raises(UnmappedName, match="a, b"):
        of.route(real("r.xy"))


def test_nothing_mapped_is_set_zero() -> None:
    of = Router(MappingSet.empty(), RoutingSettings())
    assert of.mapping.number == 0
    assert isinstance(of.route(real("a.b")), Dropped)


NAMES = st.text("abcdefgh_0123456789ñ中", min_size=1, max_size=8)


@given(st.dictionaries(NAMES, NAMES, min_size=1), st.dictionaries(NAMES, NAMES), st.data())
def test_what_a_mapping_says_is_what_a_router_answers(
    dbs: dict[str, str], tbs: dict[str, str], data: st.DataObject
) -> None:
    texts = documents(
        dbs=[{"logicDb": logical, "realDbs": name} for name, logical in dbs.items()],
        tbs=[{"logicTb": logical, "realTbs": [name]} for name, logical in tbs.items()],
        topics=[{"logicDb": logical, "topic": "t"} for logical in set(dbs.values())],
    )
    of = router(texts)
    database: Any = data.draw(st.sampled_from(sorted(dbs)))
    table = data.draw(st.sampled_from(sorted(tbs)) | NAMES if tbs else NAMES)
    assert destination(of, f"{database}.{table}").logical == TableId(
        dbs[database], tbs.get(table, table)
    )
    assert set(of.mapping.named_tables) == {TableId(d, t) for d in dbs for t in tbs}
    assert (
        MappingSet.compile(
            2, {name: json.dumps(json.loads(text)).encode() for name, text in texts.items()}
        ).number
        == 2
    )

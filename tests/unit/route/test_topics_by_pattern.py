"""Topics by pattern: a topic for each table, for each tag, for each logical database."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import UnmappedName
from relay.model.names.topic_template import expanded_topics, topic_mistakes
from relay.model.table import TableId
from relay.route import TBS, TOPICS, Destination, Router, known_topics, problems
from tests.unit.route.mappings import Entries, documents, real, router


def mapped(topic: str, tbs: Entries = (), tags: Entries = ()) -> dict[str, str]:
    return documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop_1,shop_2"}],
        tbs=tbs,
        topics=[{"logicDb": "shop", "topic": topic}],
        tags=tags,
    )


def topics(of: Router, name: str) -> tuple[str, ...]:
    table = real(name)
    found = of.route(table) if table.table else of.route_database(table.database)
    assert isinstance(found, Destination)
    return found.topics


def test_a_pattern_gives_each_logical_table_its_topic() -> None:
    routes = router(mapped("{db}.{table}", tbs=[{"logicTb": "order", "realTbs": "order_1"}]))
    assert topics(routes, "shop_1.order_1") == ("shop.order",)
    assert topics(routes, "shop_2.order_1") == ("shop.order",)
    assert topics(routes, "shop_2.client") == ("shop.client",)


def test_a_pattern_stands_beside_a_fixed_topic() -> None:
    assert topics(router(mapped("rows-{table},audit")), "shop_1.t") == ("rows-t", "audit")


def test_each_tag_of_a_table_gives_a_topic_and_tags_of_fields_give_none() -> None:
    tags = [{"logicTb": "order", "tag": "hot"}, {"logicTb": "order,paid", "tag": "all,paid"}]
    routes = router(mapped("{db}-{tag}", tags=tags))
    assert topics(routes, "shop_1.order") == ("shop-hot", "shop-all")
    assert topics(routes, "shop_1.client") == ("shop-client",)


@pytest.mark.parametrize(
    ("topic", "of_database"),
    [
        ("{db}.{table}", "shop"),
        ("rows.{db}.{table}.v1", "rows.shop..v1"),
        ("{table}", "shop"),
        ("{tag}", "shop"),
        ("all-{table}", "all"),
        ("fixed", "fixed"),
        ("fixed-", "fixed-"),
    ],
)
def test_statements_of_a_database_go_to_what_is_left_of_the_pattern(
    topic: str, of_database: str
) -> None:
    assert topics(router(mapped(topic)), "shop_1.") == (of_database,)


@pytest.mark.parametrize("table", ["a$b", "größe", "x" * 245, "ddl"])
def test_a_table_whose_topic_kafka_refuses_stops_the_instance_by_name(table: str) -> None:
    with pytest.raises(UnmappedName, match=re.escape(f"shop.{table}")) as refused:
        router(mapped("{db}.{table}")).route(TableId("shop_1", table))
    assert "document tbs" in refused.value.way_out


@pytest.mark.parametrize(
    "topic", ["{schema}.{table}", "{db", "a}", "{}", "a b{db}", "__{db}", "{{db}}"]
)
def test_a_pattern_that_cannot_be_filled_is_refused_where_it_is_written(topic: str) -> None:
    found = problems(mapped(topic))
    assert [(each.data_id, each.pointer) for each in found] == [(TOPICS, "/0/topic")]
    assert topic in found[0].sentence


def test_a_listed_table_without_a_possible_topic_is_refused_at_save() -> None:
    (found,) = problems(mapped("{db}.{table}", tbs=[{"logicTb": "a$b", "realTbs": "t"}]))
    assert (found.data_id, found.pointer) == (TBS, "/0/logicTb")
    assert "'shop.a$b'" in found.sentence
    assert problems(mapped("{db}.{tag}", [{"logicTb": "a$b", "realTbs": "t"}])) != []
    tags = [{"logicTb": "a$b", "tag": "ab"}]
    assert problems(mapped("{db}.{tag}", [{"logicTb": "a$b", "realTbs": "t"}], tags)) == []


def test_unmapped_databases_may_have_a_topic_for_each_table() -> None:
    routes = router(
        documents(), unmapped_db="default_topic", default_topic="{db}.{table}", names="real"
    )
    assert topics(routes, "any.t") == ("any.t",)
    assert topics(routes, "any.") == ("any",)


def test_topics_are_known_beforehand_for_the_names_that_documents_list() -> None:
    routes = router(mapped("{db}.{table},audit", tbs=[{"logicTb": "order", "realTbs": "o1,o2"}]))
    assert known_topics(routes) == ("audit", "shop", "shop.order")


_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(_NAMES, _NAMES, st.sampled_from(["{db}.{table}", "{table}-{db}", "x{tag}", "{db}{db}"]))
def test_what_comes_out_is_a_topic_or_a_refusal(database: str, table: str, topic: str) -> None:
    assert not list(topic_mistakes(topic))
    try:
        (found,) = expanded_topics((topic,), TableId(database, table), (table,))
    except UnmappedName:
        return
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,245}", found)
    assert not found.startswith("__")
    assert not found.endswith(".ddl")

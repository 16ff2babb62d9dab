"""The logical view groups rules and seen tables by database, topic and instance."""

import tracemalloc
from collections.abc import Mapping

import pytest

from api.models.mappings.logical_mapping import Grouping, LogicalGroupView
from api.services.mappings.logical.met_tables import MetTables, by_database
from api.services.mappings.logical.table_groups import Part, TableGroups
from api.services.mappings.logical_tables import LogicalMapping, LogicalTable
from api.services.mappings.logical_view import EVERYTHING, NO_RATES, group_view, seen_mapping
from api.web.views.logical_flow import flow_of
from relay.route import Documents, MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents

DOCUMENTS = documents(
    dbs=[
        {"logicDb": "shop", "realDbs": "shop_01,/shop_1\\d/"},
        {"logicDb": "crm", "realDbs": "crm"},
    ],
    tbs=[
        {"logicTb": "client", "realTbs": "user,customer"},
        {"logicTb": "crm.lead", "realTbs": "/lead_\\d/"},
        {"logicTb": "never", "realTbs": "crm.nowhere"},
    ],
    topics=[{"logicDb": "shop", "topic": "shop,audit"}, {"logicDb": "crm", "topic": "crm"}],
    tags=[{"logicTb": "client,email", "tag": "client,contact"}],
)
SEEN = {
    "a": ["shop_01.user", "shop_01.customer", "shop_01.cart", "nobody.knows"],
    "b": ["shop_12.user", "crm.lead_1"],
}


def instance(name: str, **more: object) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": name, "source": {"host": "h", "user": "u"}, **more}
    )


def mapping_of(
    found: Documents, seen: dict[str, list[str]], **more: Mapping[str, object]
) -> LogicalMapping:
    met: dict[str, MetTables] = {name: by_database(tables) for name, tables in seen.items()}
    instances = [instance(name, **more.get(name, {})) for name in seen]
    return seen_mapping(MappingSet.compile(3, found), found, instances, met)


MAPPING = mapping_of(DOCUMENTS, SEEN)


def groups(
    by: Grouping, part: Part = EVERYTHING, of: LogicalMapping = MAPPING
) -> list[LogicalGroupView]:
    return [group_view(each, by, NO_RATES) for each in TableGroups(of, by).part(part)[0]]


def table_of(name: str) -> tuple[tuple[str, ...], int]:
    found = next(each for each in MAPPING.tables if str(each.name) == name)
    return found.rules, found.real_tables


def test_rules_and_seen_tables_of_each_logical_table() -> None:
    assert {str(each.name) for each in MAPPING.tables} == {
        "shop.client",
        "shop.cart",
        "crm.lead",
        "crm.never",
    }
    assert table_of("shop.client") == (("user", "customer"), 3)
    assert table_of("shop.cart") == ((), 1)
    assert table_of("crm.lead") == (("/lead_\\d/",), 1)
    assert table_of("crm.never") == (("crm.nowhere",), 0)


def test_an_expression_shows_the_databases_seen_of_it() -> None:
    shards = {each.rule: (each.databases, each.instances) for each in MAPPING.shards}
    assert shards == {
        "shop_01": (("shop_01",), ("a",)),
        "/shop_1\\d/": (("shop_12",), ("b",)),
        "crm": (("crm",), ("b",)),
    }


def test_groups_by_database_topic_and_instance() -> None:
    assert [each.name for each in groups("db")] == ["crm", "shop"]
    assert [each.name for each in groups("topic")] == ["audit", "crm", "shop"]
    of_b = groups("instance")[1]
    assert of_b.name == "b"
    assert {each.logical_table: each.real_tables for each in of_b.tables} == {
        "lead": 1,
        "client": 1,
    }
    assert [each.rule for each in of_b.shards] == ["/shop_1\\d/", "crm"]


def test_a_filtered_table_is_not_counted_as_published() -> None:
    black = {"filter": {"filter_black_regex": "shop_01\\.cart"}}
    found = mapping_of(DOCUMENTS, SEEN, a=black)
    assert "shop.cart" not in {str(each.name) for each in found.tables}
    only_cart = mapping_of(DOCUMENTS, {"a": ["shop_01.cart"]}, a=black)
    assert [each.databases for each in only_cart.shards] == [(), (), ()]


def test_tables_that_two_instances_read_of_one_database_count_once() -> None:
    seen = {"a": ["shop_01.user", "shop_01.cart"], "b": ["shop_01.user", "shop_01.customer"]}
    found = {str(each.name): each for each in mapping_of(DOCUMENTS, seen).tables}
    assert dict(found["shop.client"].seen) == {"a": 1, "b": 2}
    assert found["shop.client"].real_tables == 2
    assert (dict(found["shop.cart"].seen), found["shop.cart"].real_tables) == ({"a": 1}, 1)
    alike = {"a": ["shop_01.user"], "b": ["shop_01.user", "shop_12.user"]}
    client = mapping_of(DOCUMENTS, alike).tables[-1]
    assert (str(client.name), dict(client.seen), client.real_tables) == (
        "shop.client",
        {"a": 1, "b": 2},
        2,
    )


def test_a_rule_for_one_database_makes_equal_tables_differ() -> None:
    rules = documents(
        dbs=[{"logicDb": "shop", "realDbs": "s1,s2"}],
        tbs=[{"logicTb": "first", "realTbs": "s1.t"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    )
    found = mapping_of(rules, {"a": ["s1.t", "s2.t"], "b": ["s2.t"]})
    assert {str(each.name): dict(each.seen) for each in found.tables} == {
        "shop.first": {"a": 1},
        "shop.t": {"a": 1, "b": 1},
    }


def test_tables_that_stop_an_instance_or_are_left_out_are_not_listed() -> None:
    strict = {"routing": {"unmapped_table": "stop"}}
    found = mapping_of(DOCUMENTS, SEEN, a=strict)
    assert "shop.cart" not in {str(each.name) for each in found.tables}


def tables_in(found: list[LogicalGroupView]) -> list[tuple[str, str]]:
    return [(group.name, each.logical_table) for group in found for each in group.tables]


EVERY = [("crm", "lead"), ("crm", "never"), ("shop", "cart"), ("shop", "client")]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_pages_together_have_every_table_once(limit: int) -> None:
    parts = [Part((), limit, offset) for offset in range(0, 4, limit)]
    assert [each for part in parts for each in tables_in(groups("db", part))] == EVERY
    assert TableGroups(MAPPING, "db").part(Part((), limit))[1] == 4
    assert groups("db", Part((), limit, 4)) == []


def test_a_page_keeps_shards_topics_and_number_of_its_group() -> None:
    (shop,) = groups("db", Part((), 1, 2))
    assert (shop.accepted, shop.topics, len(shop.shards)) == (2, ["audit", "shop"], 2)


@pytest.mark.parametrize(
    ("by", "words", "found"),
    [
        ("db", ("contact",), [("shop", "client")]),
        ("db", ("cart",), [("shop", "cart")]),
        ("db", ("shop.client",), [("shop", "client")]),
        ("db", ("shop_12",), EVERY[2:]),  # a database of the group
        ("db", ("shop_12", "cart"), [("shop", "cart")]),
        ("db", ("crm", "shop"), []),
        ("topic", ("audit",), [("audit", "cart"), ("audit", "client"), *EVERY[2:]]),
        ("instance", ("b", "lead"), [("b", "lead")]),
        ("instance", ("nothing",), []),
    ],
)
def test_words_are_found_in_names_of_groups_and_tables(
    by: Grouping, words: tuple[str, ...], found: list[tuple[str, str]]
) -> None:
    assert tables_in(groups(by, Part(words, 10))) == found
    assert TableGroups(MAPPING, by).part(Part(words))[1] == len(found)


def test_a_table_of_many_groups_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, text = [], TableGroups._text  # noqa: SLF001

    def noted(of: TableGroups, table: LogicalTable) -> str:
        searched.append(table.name)
        return text(of, table)

    monkeypatch.setattr(TableGroups, "_text", noted)
    many = mapping_of(DOCUMENTS, dict.fromkeys("abcdef", SEEN["a"]))
    found, _ = TableGroups(many, "instance").part(Part(("client",)))
    assert [each.name for each in found] == list("abcdef")
    assert sorted(searched) == sorted(each.name for each in many.tables)


def test_a_group_without_tables_is_an_entry() -> None:
    empty = documents(
        dbs=[{"logicDb": "a", "realDbs": "a"}, {"logicDb": "b", "realDbs": "b"}],
        topics=[{"logicDb": "a", "topic": "a"}, {"logicDb": "b", "topic": "b"}],
    )
    none = mapping_of(empty, {})
    assert [each.name for each in groups("db", Part((), 1, 1), none)] == ["b"]
    assert TableGroups(none, "db").part(Part())[1] == 2


def test_each_database_has_a_picture() -> None:
    flow = flow_of(groups("db")[1])
    assert [each.text for each in flow.left] == ["shop_01", "/shop_1\\d/"]
    assert len(flow.lines) == 4


def test_a_picture_of_many_shards_counts_those_it_does_not_show() -> None:
    many = documents(
        dbs=[{"logicDb": "d", "realDbs": ",".join(f"d{each}" for each in range(40))}],
        topics=[{"logicDb": "d", "topic": "t"}],
    )
    flow = flow_of(groups("db", Part(), mapping_of(many, {}))[0])
    assert (len(flow.left), flow.left[-1].text) == (6, "and 35 more")
    assert all(each.y + 21 <= flow.height for each in flow.left)


def test_a_pair_of_instance_and_table_takes_few_bytes() -> None:
    instances, tables = 100, 100
    many = documents(
        dbs=[{"logicDb": "shop", "realDbs": "/many_\\d+/"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    )
    seen = {
        f"many-{each}": [f"many_{each}.orders_{at}" for at in range(tables)]
        for each in range(instances)
    }
    mapping_of(many, seen)
    tracemalloc.start()
    try:
        kept = mapping_of(many, seen)
        taken = tracemalloc.get_traced_memory()[0] / (instances * tables)
    finally:
        tracemalloc.stop()
    assert sum(each.real_tables for each in kept.tables) == instances * tables
    assert taken < 25, taken

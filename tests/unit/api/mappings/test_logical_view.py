"""The logical view groups rules and seen tables by database, topic and instance."""

import tracemalloc

from api.models.mappings.logical_mapping import LogicalView
from api.services.mappings.logical_tables import LogicalMapping, logical_mapping, published
from api.services.mappings.logical_view import grouped
from api.web.views.logical_flow import flow_of
from api.web.views.mappings import summary, table_groups
from relay.model.table import TableId, tables_named
from relay.route import MappingSet
from relay.settings import InstanceSettings
from tests.unit.route.mappings import documents, real

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
    "a": [real("shop_01.user"), real("shop_01.customer"), real("shop_01.cart")],
    "b": [real("shop_12.user"), real("crm.lead_1")],
}
MAPPING = logical_mapping(3, DOCUMENTS, SEEN)


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
    assert [each.name for each in grouped(MAPPING, "db")] == ["crm", "shop"]
    assert [each.name for each in grouped(MAPPING, "topic")] == ["audit", "crm", "shop"]
    of_b = grouped(MAPPING, "instance")[1]
    assert of_b.name == "b"
    assert {each.logical_table: each.real_tables for each in of_b.tables} == {
        "lead": 1,
        "client": 1,
    }
    assert [each.rule for each in of_b.shards] == ["/shop_1\\d/", "crm"]


def test_a_filtered_table_is_not_counted_as_published() -> None:
    instance = InstanceSettings.model_validate(
        {
            "name": "a",
            "source": {"host": "h", "user": "u"},
            "filter": {"filter_black_regex": "shop_01\\.cart"},
        }
    )
    mapping = MappingSet.compile(1, DOCUMENTS)
    met = [*SEEN["a"], TableId("other", "t")]
    assert [str(each) for each in published(mapping, instance, met)] == [
        "shop_01.user",
        "shop_01.customer",
    ]


def test_the_page_filters_groups_and_draws_each_database() -> None:
    view = LogicalView(set=3, by="db", groups=grouped(MAPPING, "db"))
    assert [each.group.name for each in table_groups(view, "CONTACT")] == ["shop"]
    assert summary(view) == "2 logical databases, 4 logical tables, 5 real tables seen"
    (shop,) = table_groups(view, "cart")
    assert [each.logical_table for each in shop.others] == ["cart"]
    flow = flow_of(shop.group)
    assert [each.text for each in flow.left] == ["shop_01", "/shop_1\\d/"]
    assert len(flow.lines) == 4


def test_a_picture_of_many_shards_counts_those_it_does_not_show() -> None:
    many = documents(
        dbs=[{"logicDb": "d", "realDbs": ",".join(f"d{each}" for each in range(40))}],
        topics=[{"logicDb": "d", "topic": "t"}],
    )
    flow = flow_of(grouped(logical_mapping(1, many, {}), "db")[0])
    assert (len(flow.left), flow.left[-1].text) == (6, "and 35 more")
    assert all(each.y + 21 <= flow.height for each in flow.left)


def test_a_pair_of_instance_and_table_takes_few_bytes() -> None:
    instances, tables = 100, 100
    many = documents(
        dbs=[{"logicDb": "shop", "realDbs": "/many_\\d+/"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    )

    def mapping() -> LogicalMapping:
        seen = {
            f"many-{each}": tables_named(f"many_{each}.orders_{at}" for at in range(tables))
            for each in range(instances)
        }
        return logical_mapping(1, many, seen)

    mapping()
    tracemalloc.start()
    try:
        kept = mapping()
        taken = tracemalloc.get_traced_memory()[0] / (instances * tables)
    finally:
        tracemalloc.stop()
    assert sum(each.real_tables for each in kept.tables) == instances * tables
    assert taken < 250, taken

"""A statement that changes several tables goes to the topics of all of them."""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import tables_named
from relay.pipeline.messages.statements import statement_routes
from relay.route import Router
from relay.schema import classify
from tests.unit.route.mappings import documents, router

DBS = [{"logicDb": "shop", "realDbs": "shop"}, {"logicDb": "crm", "realDbs": "crm"}]
ORDERS = [{"logicTb": "orders", "realTbs": "orders"}]
EACH_TABLE = router(
    documents(
        dbs=DBS, topics=[{"logicDb": each, "topic": "{db}.{table}"} for each in ("shop", "crm")]
    )
)
EACH_DATABASE = router(
    documents(
        dbs=DBS,
        tbs=ORDERS,
        topics=[{"logicDb": "shop", "topic": "shop,all"}, {"logicDb": "crm", "topic": "crm,all"}],
    ),
    unmapped_table="drop",
)


def routed(sql: str, by: Router) -> list[tuple[str, tuple[str, ...]]]:
    ddl = classify(Statement(sql, "shop", 7, BinlogPosition("b.000001", 4)))
    return [(str(real), to.topics) for real, to in statement_routes(ddl, by)]


@pytest.mark.parametrize(
    ("sql", "by", "expected"),
    [
        (
            "DROP TABLE a, crm.b, a",
            EACH_TABLE,
            [("shop.a", ("shop.a",)), ("crm.b", ("crm.b",))],
        ),
        (
            "RENAME TABLE orders TO old, new TO orders",
            EACH_TABLE,
            [
                ("shop.old", ("shop.old",)),
                ("shop.orders", ("shop.orders",)),
                ("shop.new", ("shop.new",)),
            ],
        ),
        (
            "RENAME TABLE orders TO old, new TO orders",
            EACH_DATABASE,
            [("shop.orders", ("shop", "all"))],
        ),
        (
            "DROP TABLE tmp, orders, crm.orders",
            EACH_DATABASE,
            [("shop.orders", ("shop", "all")), ("crm.orders", ("crm",))],
        ),
        ("DROP TABLE tmp", EACH_DATABASE, []),
        ("DROP DATABASE crm", EACH_DATABASE, [("crm.", ("crm", "all"))]),
    ],
)
def test_each_topic_gets_it_once_as_the_first_of_its_tables(
    sql: str, by: Router, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert routed(sql, by) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("DROP DATABASE crm", [("crm", "crm."), ("crm.a", "crm.a"), ("crm.b", "crm.b")]),
        (
            "/* all */ drop schema if exists `crm`",
            [("crm", "crm."), ("crm.a", "crm.a"), ("crm.b", "crm.b")],
        ),
        (
            "CREATE OR REPLACE DATABASE crm",
            [("crm", "crm."), ("crm.a", "crm.a"), ("crm.b", "crm.b")],
        ),
        ("CREATE DATABASE crm", [("crm", "crm.")]),
        ("ALTER DATABASE crm CHARACTER SET utf8mb4", [("crm", "crm.")]),
        ("DROP DATABASE other", [("other", "other."), ("other.a", "other.a")]),
    ],
)
def test_a_dropped_database_is_told_in_the_topics_of_its_tables(
    sql: str, expected: list[tuple[str, str]]
) -> None:
    by = router(
        documents(
            dbs=DBS, topics=[{"logicDb": each, "topic": "{db}.{table}"} for each in ("shop", "crm")]
        ),
        unmapped_db="default_topic",
        default_topic="{db}.{table}",
    )
    published = ["shop.a", "crm.b", "crm.a", "crm", "other.a", "all"]
    tables = tables_named(["shop.a", "crm.b", "crm.a", "crm.never", "other.a"])
    ddl = classify(Statement(sql, "shop", 7, BinlogPosition("b.000001", 4)))
    routes = statement_routes(ddl, by, published, tables)
    assert [(to.topics[0], str(to.logical)) for _, to in routes] == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{table}", [("shop", "shop."), ("orders", "shop.orders")]),
        ("{db}_{table}", [("shop", "shop."), ("shop_orders", "shop.orders")]),
        ("{tag}", [("shop", "shop."), ("paid", "shop.orders")]),
    ],
)
def test_topics_of_other_databases_are_not_told_that_a_database_was_dropped(
    template: str, expected: list[tuple[str, str]]
) -> None:
    """`shop_eu_orders` also looks like table `eu_orders` of database `shop`."""
    by = router(
        documents(
            dbs=[{"logicDb": each, "realDbs": each} for each in ("shop", "shop_eu")],
            topics=[{"logicDb": each, "topic": template} for each in ("shop", "shop_eu")],
            tags=[
                {"logicTb": "orders", "tag": "paid"},
                {"logicTb": "users", "tag": "sent"},
            ]
            if template == "{tag}"
            else [],
        )
    )
    ddl = classify(Statement("DROP DATABASE shop", "shop", 7, BinlogPosition("b.000001", 4)))
    published = [
        "orders",
        "users",
        "shop_orders",
        "shop_eu_orders",
        "shop_eu_users",
        "paid",
        "sent",
    ]
    tables = tables_named(["shop.orders", "shop_eu.users"])
    routes = statement_routes(ddl, by, published, tables)
    assert [(to.topics[0], str(to.logical)) for _, to in routes] == expected
